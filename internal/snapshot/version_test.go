package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestBounds: the bounds for a server without an exact version. A bound that contradicts what was
// seen is dropped.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		kubelets string
		served   string
		want     string
	}{
		{"nothing", "", "", "- -"},
		{"one kubelet, skew two", "v1.13.3", "", "13 15 Kubelets"},
		{"the last one with skew two", "v1.24.1+rke2r2", "", "24 26 Kubelets"},
		{"the first one with skew three", "v1.25.6", "", "25 28 Kubelets"},
		{"several kubelets", "v1.26.0 v1.27.1+k3s1 v1.27.4", "", "27 29 Kubelets"},
		{"kubelets too far from each other: the oldest bounds nothing", "v1.20.1 v1.27.1", "", "27 - Kubelets"},
		{"no versions", "latest v0.9 ?", "", "- -"},
		{"groups of a v1.14", "", "v1 apps/v1 apps/v1beta1 scheduling.k8s.io/v1 node.k8s.io/v1beta1 shop.example.com/v1", "14 15 APIs"},
		{"groups of a v1.33", "", "v1 apps/v1 flowcontrol.apiserver.k8s.io/v1", "29 - APIs"},
		{"both", "v1.13.4", "apps/v1 apps/v1beta2 autoscaling/v2beta2", "13 15 APIs,Kubelets"},
		{"groups say more", "v1.13.4", "scheduling.k8s.io/v1 apps/v1beta1", "14 15 APIs"},
		{"kubelets say more", "v1.33.1 v1.33.2", "apps/v1 policy/v1 flowcontrol.apiserver.k8s.io/v1", "33 36 Kubelets"},
		{"a kubelet newer than its server", "v1.27.1", "batch/v1beta1 policy/v1", "21 24 APIs"},
		{"groups of two servers", "", "batch/v1beta1 flowcontrol.apiserver.k8s.io/v1", "- -"},
		{"and kubelets", "v1.27.1", "batch/v1beta1 flowcontrol.apiserver.k8s.io/v1", "27 30 Kubelets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var k kubelets
			for version := range strings.FieldsSeq(tt.kubelets) {
				k.add(version)
			}
			served := strings.Fields(tt.served)
			got := boundsOf(k, served)
			if text := versionText(got); text != tt.want {
				t.Errorf("%s, not %s", text, tt.want)
			}
			slices.Reverse(served)
			if again := boundsOf(k, served); versionText(again) != tt.want {
				t.Errorf("in the reverse order %s", versionText(again))
			}
		})
	}
}

// versionText returns the version as "13 15 APIs,Kubelets", or "v1.2.3 2 2 File".
func versionText(v Version) string {
	number := func(n int) string { return cmp.Or(strings.TrimPrefix(fmt.Sprint(n), "0"), "-") }
	var from []string
	for _, f := range v.From {
		from = append(from, string(f))
	}
	return strings.Join(slices.DeleteFunc([]string{v.Exact, number(v.Least), number(v.Most), strings.Join(from, ",")},
		func(s string) bool { return s == "" }), " ")
}

// TestVersionOfDumps: each layout has a file with the version of the server, or else Nodes. The
// version is the same after writing and reading it.
func TestVersionOfDumps(t *testing.T) {
	const info = `{"major":"1","minor":"27","gitVersion":"v1.27.1+k3s1","gitCommit":"c","platform":"linux/amd64"}`
	const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"1"},"status":{"nodeInfo":{"kubeletVersion":"v1.27.1"}}}`
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop","uid":"2"}}`
	const flat = `{"selfLink":"/api/v1/nodes","Items":[{"name":"n1","uid":"1","Status":{"NodeInfo":{"KubeletVersion":"v1.13.3"}}}]}`
	const groups = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"},{"groupVersion":"apps/v1beta1","version":"v1beta1"}]}]}`
	for _, tt := range []struct{ name, file, content, want string }{
		{"sonobuoy", "serverversion.json", info, "v1.27.1+k3s1 27 27 File"},
		{"troubleshoot", "cluster-info/cluster_version.json", `{"info":` + info + `,"string":"v1.27.1+k3s1"}`, "v1.27.1+k3s1 27 27 File"},
		{"kubectl version -o json", "version.json", `{"clientVersion":{"major":"1","gitVersion":"v1.36.3"},"serverVersion":` + info + `}`, "v1.27.1+k3s1 27 27 File"},
		{"a server of another kind", "serverversion.json", `{"major":"2","minor":"1","gitVersion":"v2.1.0"}`, "v2.1.0 - - File"},
		{"Nodes", "nodes.json", `{"apiVersion":"v1","kind":"List","items":[` + node + `]}`, "27 30 Kubelets"},
		{"Nodes of kubectl 1.13", "nodes.json", flat, "13 15 Kubelets"},
		{"groups", "servergroups.json", groups, "9 15 APIs"},
		{"nothing", "pods.json", `{"apiVersion":"v1","kind":"List","items":[` + pod + `]}`, "- -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := readBytes(tarOf(t, []txtar.File{{Name: tt.file, Data: []byte(tt.content)}, {Name: "pod.json", Data: []byte(pod)}}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := versionText(s.Version()); got != tt.want {
				t.Errorf("%s, not %s", got, tt.want)
			}
			var b bytes.Buffer
			if err := s.Write(&b, Gzip, Evidence{}); err != nil {
				t.Fatal(err)
			}
			again, err := readBytes(b.Bytes(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := versionText(again.Version()); got != tt.want {
				t.Errorf("read again: %s, not %s", got, tt.want)
			}
		})
	}
}

package snapshot

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

func apiServiceOfGroup(group, version, more string) etcdfile.Write {
	name := version + "." + group
	return etcdfile.Write{"apiregistration.k8s.io/apiservices/" + name, fmt.Sprintf(
		`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":%q,"uid":%q},"spec":{"group":%q,"version":%q%s}}`,
		name, name, group, version, more)}
}

const storedWidgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com","uid":"d"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
{"name":"v1","served":true,"storage":true},{"name":"v1alpha1","served":false,"storage":false}]},
"status":{"conditions":[{"type":"Established","status":"True"}]}}`

// storedShop is a small cluster in storage.
func storedShop(t testing.TB) []etcdfile.Write {
	meta := func(namespace, name string) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Namespace: namespace, Name: name}
		m.UID = "u-" + "x"
		return m
	}
	system, shop := meta("", "kube-system"), meta("", "shop")
	system.UID, shop.UID = "sys", "shop"
	pod := meta("shop", "web")
	pod.UID = "pod"
	return []etcdfile.Write{
		{"namespaces/kube-system", etcdfile.Message(t, "v1", "Namespace", &corev1.Namespace{ObjectMeta: system})},
		{"namespaces/shop", etcdfile.Message(t, "v1", "Namespace", &corev1.Namespace{ObjectMeta: shop})},
		{"ranges/serviceips", "not an object"},
		{"pods/shop/web", etcdfile.Message(t, "v1", "Pod", &corev1.Pod{ObjectMeta: pod, Spec: corev1.PodSpec{NodeName: "n1"}})},
		{"apiextensions.k8s.io/customresourcedefinitions/widgets.example.com", storedWidgets},
		{"example.com/widgets/shop/w", `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"w","namespace":"shop","uid":"w"}}`},
		apiServiceOfGroup("", "v1", ""), apiServiceOfGroup("apps", "v1", ""), apiServiceOfGroup("example.com", "v1", ""),
		apiServiceOfGroup("batch", "v1beta1", ""),
	}
}

func readEtcdKeys(t testing.TB, o Options, writes ...etcdfile.Write) (*Snapshot, error) {
	t.Helper()
	return ReadFiles([]string{etcdfile.Create(t, 0, writes...)}, o)
}

func listedIn(s *Snapshot) []string {
	var all []string
	for _, o := range s.Objects {
		all = append(all, o.APIVersion+" "+o.Kind+" "+o.Namespace+"/"+o.Name+" @"+o.ResourceVersion)
	}
	return all
}

func TestEtcd(t *testing.T) {
	s, err := readEtcdKeys(t, Options{}, storedShop(t)...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"apiextensions.k8s.io/v1 CustomResourceDefinition /widgets.example.com @5",
		"apiregistration.k8s.io/v1 APIService /v1. @7",
		"apiregistration.k8s.io/v1 APIService /v1.apps @8",
		"apiregistration.k8s.io/v1 APIService /v1.example.com @9",
		"apiregistration.k8s.io/v1 APIService /v1beta1.batch @10",
		"example.com/v1 Widget shop/w @6", // in the version that is served
		"v1 Namespace /kube-system @1",
		"v1 Namespace /shop @2",
		"v1 Pod shop/web @4",
	}
	if diff := cmp.Diff(want, listedIn(s)); diff != "" {
		t.Error(diff)
	}
	if len(s.Gaps) > 0 || len(s.Problems) > 0 || !s.KnowsAllKinds() || s.Source.Revision != 10 || s.Source.ClusterUID != "sys" {
		t.Errorf("%v %v %+v", s.Gaps, s.Problems, s.Source)
	}
	for kind, served := range map[string]bool{"v1 Secret": true, "apps/v1 Deployment": true, "batch/v1beta1 CronJob": true, "example.com/v1 Widget": true,
		"batch/v1 Job": false, "example.com/v1alpha1 Widget": false} {
		apiVersion, name, _ := strings.Cut(kind, " ")
		if r, err := s.Resources.For(apiVersion, name); served != (err == nil) || served && !s.Covers(r, "") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if p := s.FindKind(object.Pod, "shop", "web"); p == nil || p.Pod() == nil || p.Pod().NodeName != "n1" {
		t.Errorf("%+v", p)
	}
}

func TestEtcdRevision(t *testing.T) {
	writes := append(storedShop(t), etcdfile.Write{"pods/shop/web", ""})
	for revision, pods := range map[int64]int{0: 0, 10: 1, 4: 1, 3: 0} {
		s, err := readEtcdKeys(t, Options{Revision: revision}, writes...)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(strings.Join(listedIn(s), "\n"), " Pod "); got != pods {
			t.Errorf("revision %d: %d pods", revision, got)
		}
	}
	if _, err := readEtcdKeys(t, Options{Revision: 99}, writes...); err == nil || !strings.Contains(err.Error(), "snapshot.db: revision 99 is not in the file, which holds 1 to 11") {
		t.Error(err)
	}
	if _, err := readBytes([]byte(podList), Options{Revision: 3}); err == nil || !strings.Contains(err.Error(), "only etcd snapshots have revisions") {
		t.Error(err)
	}
}

// TestEtcdUnknown: facts that the file lacks are unknown, and not absent.
func TestEtcdUnknown(t *testing.T) {
	s, err := readEtcdKeys(t, Options{}, append(storedShop(t),
		etcdfile.Write{"secrets/shop/a", "k8s:enc:aescbc:v1:key:\x01"}, etcdfile.Write{"secrets/shop/b", "k8s:enc:aescbc:v1:key:\x01"},
		etcdfile.Write{"example.com/gadgets/g", `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g","uid":"g"}}`},
		apiServiceOfGroup("metrics.k8s.io", "v1beta1", `,"service":{"name":"metrics-server"}`),
		apiServiceOfGroup("flunders.example.com", "v1", `,"service":{"name":"flunder"}`),
		apiServiceOfGroup("resource.k8s.io", "v9alpha1", ""),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	var gaps []string
	for _, g := range s.Gaps {
		gaps = append(gaps, g.APIVersion+" "+g.Resource+" "+g.Why)
	}
	want := []string{
		"flunders.example.com/v1 * NotInDump: another server serves them, which keeps its objects elsewhere",
		"resource.k8s.io/v9alpha1 * NotInDump: they are of another version of Kubernetes",
		"v1 secrets Encrypted: 2 of its 2 objects are encrypted in storage (aescbc)",
	}
	if diff := cmp.Diff(want, gaps); diff != "" {
		t.Error(diff)
	}
	if s.KnowsAllKinds() || len(s.Problems) != 3 || !strings.Contains(s.Problems[2].Message, `1 objects of "gadgets.example.com" are stored and were skipped: no definition declares them`) {
		t.Errorf("%+v", s.Problems)
	}
}

// TestEtcdBroken: an unreadable value is an error that names its key, or a gap if that is allowed.
func TestEtcdBroken(t *testing.T) {
	shop := storedShop(t)
	for want, broken := range map[string]etcdfile.Write{
		`key "pods/shop/web": protobuf: the message ends within a field`:            {"pods/shop/web", shop[3][1][:30]},
		`key "pods/shop/web": it is neither protobuf nor JSON`:                      {"pods/shop/web", "x"},
		`key "pods/shop/other": it holds`:                                           {"pods/shop/other", shop[3][1]},
		`key "apiregistration.k8s.io/apiservices/v1.": its value: document 1: line`: {"apiregistration.k8s.io/apiservices/v1.", `{"spec":`},
	} {
		writes := append(storedShop(t), broken)
		if _, err := readEtcdKeys(t, Options{}, writes...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		s, err := readEtcdKeys(t, Options{AllowPartial: true}, writes...)
		if err != nil || len(s.Gaps) != 1 || s.Gaps[0].Reason() != reason.Truncated {
			t.Errorf("%v: %+v", want, err)
		}
	}
	path := etcdfile.Create(t, 0, shop...)
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range [][]byte{packed, gzipOf(t, packed)} {
		if _, err := readBytes(input, Options{}); err == nil || !strings.Contains(err.Error(), "read only as a file of its own") {
			t.Error(err)
		}
	}
	if err := os.WriteFile(path, packed[:len(packed)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFiles([]string{path}, Options{}); err == nil || !strings.Contains(err.Error(), "snapshot.db: the file is damaged") {
		t.Error(err)
	}
}

// TestEtcdMemory: a file that needs far too much memory is refused before it uses it up.
func TestEtcdMemory(t *testing.T) {
	path := etcdfile.Create(t, 0, storedShop(t)...)
	full := fmt.Errorf("%w: full", ErrLimit)
	if _, err := ReadFiles([]string{path}, Options{Limits: Limits{EntryBytes: 100}}); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	var many []etcdfile.Write
	for i := range 3000 {
		many = append(many, etcdfile.Write{fmt.Sprintf("configmaps/%0500d/x", i), "x"})
	}
	calls := 0
	_, err := ReadFiles([]string{etcdfile.Create(t, 0, append(storedShop(t), many...)...)}, Options{Memory: func(int64, int, Limits) error {
		calls++
		return full
	}})
	if !errors.Is(err, full) || calls != 1 {
		t.Error(err, calls)
	}
}

package manifest

import (
	"strings"
	"testing"
	"time"
)

// TestKubelet: a Node has the version of its kubelet in all forms. A version elsewhere is ignored
// without an error.
func TestKubelet(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"a Node", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"nodeInfo":{"osImage":"x","kubeletVersion":"v1.27.1+k3s1","kubeProxyVersion":"v1.27.1"}}}`, "v1.27.1+k3s1"},
		{"as YAML", "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nstatus:\n  nodeInfo:\n    kubeletVersion: v1.27.1\n", "v1.27.1"},
		{"the kind after the status", `{"status":{"nodeInfo":{"kubeletVersion":"v1.27.1"}},"metadata":{"name":"n1"},"kind":"Node","apiVersion":"v1"}`, "v1.27.1"},
		{"a flattened Node", `{"Items":[{"name":"n1","Status":{"NodeInfo":{"KubeletVersion":"v1.13.3"}}}]}`, "v1.13.3"},
		{"a number", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"nodeInfo":{"kubeletVersion":1.27}}}`, ""},
		{"no mapping", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"nodeInfo":["v1.27.1"]}}`, ""},
		{"nothing", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"nodeInfo":null}}`, ""},
		{"somebody else's Node", `{"apiVersion":"longhorn.io/v1beta2","kind":"Node","metadata":{"name":"n1","namespace":"l"},"status":{"nodeInfo":{"kubeletVersion":"v1.27.1"}}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, o := "", Options{File: "in"}
			if strings.Contains(tt.input, "Items") {
				o.APIVersion, o.Kind = "v1", "Node"
			}
			if err := Read(strings.NewReader(tt.input), o, Handler{Kubelet: func(v string) { got = v }}); err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}
}

// TestMoment: objects that the cluster writes regularly tell when they were written, in all forms.
// An invalid time, or that of another object, is ignored without an error.
func TestMoment(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"the Lease of a node", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n1","namespace":"kube-node-lease"},"spec":{"renewTime":"2026-05-01T12:00:00.123456Z"}}`, "2026-05-01T12:00:00Z"},
		{"as YAML", "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: kube-scheduler, namespace: kube-system}\nspec:\n  renewTime: \"2026-05-01T12:00:00.123456Z\"\n", "2026-05-01T12:00:00Z"},
		{"the kind after the spec", `{"spec":{"renewTime":"2026-05-01T12:00:00Z"},"metadata":{"name":"n1","namespace":"kube-node-lease"},"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`, "2026-05-01T12:00:00Z"},
		{"the kind after the items", `{"items":[{"spec":{"renewTime":"2026-05-01T12:00:00Z"},"metadata":{"name":"n1","namespace":"kube-node-lease"}}],"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1"}`, "2026-05-01T12:00:00Z"},
		{"the Lease of a controller", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"op","namespace":"ops"},"spec":{"renewTime":"2026-05-01T12:00:00Z"}}`, ""},
		{"the latest heartbeat", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-05-01T12:00:00Z"},{"type":"PIDPressure","lastHeartbeatTime":"2026-05-01T11:00:00Z"}]}}`, "2026-05-01T12:00:00Z"},
		{"a flattened Node", `{"Items":[{"name":"n1","Status":{"Conditions":[{"Type":"Ready","LastHeartbeatTime":"2026-05-01T12:00:00Z"}]}}]}`, "2026-05-01T12:00:00Z"},
		{"somebody else's Node", `{"apiVersion":"longhorn.io/v1beta2","kind":"Node","metadata":{"name":"n1","namespace":"longhorn-system"},"status":{"conditions":[{"lastHeartbeatTime":"2026-05-01T12:00:00Z"}]}}`, ""},
		{"an Event", `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"n"},"lastTimestamp":"2026-05-01T12:00:00Z","eventTime":null}`, "2026-05-01T12:00:00Z"},
		{"an Event as YAML", "apiVersion: events.k8s.io/v1\neventTime: \"2026-05-01T12:00:00.5Z\"\nkind: Event\nmetadata: {name: e, namespace: shop}\n", "2026-05-01T12:00:00Z"},
		{"an Event that says no time", `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"n"},"lastTimestamp":"yesterday","eventTime":7}`, ""},
		{"not an Event", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"e","namespace":"n"},"eventTime":"2026-05-01T12:00:00Z"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var latest int64
			o := Options{File: "in"}
			if strings.Contains(tt.input, "Items") {
				o.APIVersion, o.Kind = "v1", "Node"
			}
			if err := Read(strings.NewReader(tt.input), o, Handler{Moment: func(s int64) { latest = max(latest, s) }}); err != nil {
				t.Fatal(err)
			}
			var got string
			if latest > 0 {
				got = time.Unix(latest, 0).UTC().Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}
}

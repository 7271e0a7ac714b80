package manifest

import (
	"strings"
	"testing"
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

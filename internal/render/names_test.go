package render

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"testing"
)

func TestKubectlName(t *testing.T) {
	for want, r := range map[string]object.Ref{
		"pod/web-1":            {APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1"},
		"deployment.apps/web":  {APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		"uid 42":               {UID: "42"},
		"odd/x":                {APIVersion: "a/b/c", Kind: "Odd", Name: "x"},
		"K\xff.example.com/x":  {APIVersion: "example.com/v1", Kind: "K\xff", Name: "x"},
		"networkpolicy.n.io/y": {APIVersion: "n.io/v1beta1", Kind: "NetworkPolicy", Name: "y"},
	} {
		if got := r.KubectlName(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEnumerate(t *testing.T) {
	for _, tt := range []struct {
		names []string
		of    int
		want  string
	}{
		{nil, 0, ""}, {nil, 3, "3"}, {[]string{"a"}, 1, "a"}, {[]string{"a", "b"}, 2, "a and b"},
		{[]string{"a", "b", "c"}, 3, "a, b and c"}, {[]string{"a", "b"}, 5, "a, b and 3 more"},
	} {
		if got := enumerate(tt.names, tt.of); got != tt.want {
			t.Errorf("enumerate(%q, %d) = %q, want %q", tt.names, tt.of, got, tt.want)
		}
	}
}

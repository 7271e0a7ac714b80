package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// notPublic are what no test of another project is to be given along with the package gctest:
// the server and the command line of Kubernetes, and ours.
var notPublic = []string{
	"k8s.io/kubernetes", "k8s.io/cli-runtime", "k8s.io/kubectl", "github.com/spf13/", "github.com/olekukonko/",
	"go.etcd.io/", "github.com/klauspost/", "github.com/pierrec/", "github.com/ulikunitz/",
	module + "internal/cli", module + "internal/render", module + "internal/draw",
}

// TestPublicGraph: what is imported along with gctest.
func TestPublicGraph(t *testing.T) {
	text, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"gctest").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(text))
	if len(all) < 100 {
		t.Errorf("gctest imports %d packages only", len(all))
	}
	for _, p := range all {
		for _, bad := range notPublic {
			if strings.HasPrefix(p, bad) {
				t.Errorf("gctest brings %s along", p)
			}
		}
		if p == "testing" {
			t.Error("gctest imports testing, and its flags with that")
		}
	}
}

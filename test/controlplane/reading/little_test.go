package reading

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// TestLittleIsRead: the graph of an object, and of what is in a namespace, reads that
// namespace and what is in none, as a dry run of its delete does, and is the one that
// reading everything gives. Where everything has to be read no list is read that no owner
// or dependent can be in.
func TestLittleIsRead(t *testing.T) {
	load := &cluster.Load{Cluster: plane}
	for _, namespace := range []string{"little", "other"} {
		if err := load.Namespace(namespace, 2); err != nil {
			t.Fatal(err)
		}
	}
	const deployment = "deployment/app-000"
	_, dry := asking(t, "dry-run", "delete", deployment, "-n", "little", "-o", "json")
	for name, c := range map[string]struct {
		args []string
		wide bool
	}{
		"an object":      {args: []string{deployment, "-n", "little"}},
		"its dependents": {args: []string{deployment, "-n", "little", "--dependents"}},
		"its owners":     {args: []string{"replicaset/app-000-1", "-n", "little", "--owners"}},
		"its trees":      {args: []string{"replicaset/app-000-1", "-n", "little", "--whole"}},
		"a namespace":    {args: []string{"namespace/little"}},
		"what is in one": {args: []string{"-n", "little"}},
		"everything":     {args: []string{"-A"}, wide: true},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"graph", "-o", "json"}, c.args...)
			text, lists := asking(t, args...)
			for _, path := range lists {
				if !slices.Contains(dry, path) && !c.wide || strings.HasSuffix(path, "/events") {
					t.Errorf("%s is listed", path)
				}
			}
			whole, all := asking(t, append(args, "--include=*")...)
			if !c.wide && len(all) > len(dry) {
				t.Errorf("%d lists for everything, and %d for one namespace", len(all), len(dry))
			}
			if diff := cmp.Diff(document(t, whole), document(t, text)); diff != "" {
				t.Errorf("(-all +little):\n%s", diff)
			}
		})
	}
}

// list is the path of a list.
var list = regexp.MustCompile(`^/api(s/[^/]+)?/[^/]+/(namespaces/[^/]+/)?[a-z]+$`)

// asking runs a command, and returns what it prints and the lists that it has asked for.
func asking(t *testing.T, args ...string) (printed []byte, lists []string) {
	t.Helper()
	m, err := plane.Meter()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var out, said bytes.Buffer
	args = append([]string{"kubectl-gc"}, append(args, "--kubeconfig="+m.Kubeconfig, "--cache-dir="+t.TempDir())...)
	if code := cli.Main(t.Context(), args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &said}); code != 0 {
		t.Fatalf("%q: code %d\n%s", args, code, said.Bytes())
	}
	for _, asked := range m.Asked() {
		path := strings.TrimPrefix(asked, "GET ")
		if list.MatchString(path) {
			lists = append(lists, path)
		}
	}
	return out.Bytes(), lists
}

// document is a graph without what says how it was read.
func document(t *testing.T, text []byte) report.Graph {
	t.Helper()
	var g report.Graph
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	g.Source.Namespaces, g.Source.TakenAt, g.Source.Server = nil, "", ""
	g.Gaps = slices.DeleteFunc(g.Gaps, func(gap report.Gap) bool { return gap.Resource == "*" && gap.APIVersion == "" })
	return g
}

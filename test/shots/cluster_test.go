package shots

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// person types one line when asked, and sees it.
type person struct {
	line   string
	screen io.Writer
}

// AtTerminal says that somebody is there.
func (p *person) AtTerminal() bool { return true }

// Read types the line.
func (p *person) Read(to []byte) (int, error) {
	if p.line == "" {
		return 0, io.EOF
	}
	n := copy(to, p.line)
	p.line = p.line[n:]
	_, err := p.screen.Write(to[:n])
	return n, err
}

// cluster serves what a dump shows, and makes it the one of the kubeconfig, under the
// name of a context.
func cluster(t *testing.T, dump, context string) {
	t.Helper()
	snap, err := snapshot.ReadFiles([]string{dump}, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	api := facade.New(snap.Objects, snap.Resources, facade.Documents(snap.Resources.All()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(map[string]any{
				"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
				"status": map[string]any{"userInfo": map[string]any{"username": "ann"}},
			}); err != nil {
				t.Error(err)
			}
			return
		}
		if strings.HasSuffix(r.URL.Path, "/leases/kube-controller-manager") {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(map[string]any{
				"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "kube-controller-manager", "namespace": "kube-system"},
				"spec": map[string]any{"holderIdentity": "control-plane-1", "leaseDurationSeconds": 15, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")},
			}); err != nil {
				t.Error(err)
			}
			return
		}
		if r.Method != http.MethodGet {
			t.Errorf("%s %s is sent before anybody has agreed", r.Method, r.URL.Path)
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	config := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %[1]s
contexts: [{name: %[1]s, context: {cluster: c, user: ann, namespace: default}}]
clusters: [{name: c, cluster: {server: %[2]q}}]
users: [{name: ann, user: {}}]
`, context, server.URL)
	name := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", name)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("CI", "") // progress that a terminal erases, whatever machine this is
}

// address is that of a test's server, which no two runs have in common.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// TestShotOfQuestion draws what stands between a plan and a delete: the name of the
// cluster has to be typed, and here it is the wrong one.
func TestShotOfQuestion(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm-256color")
	cluster(t, "examples/shop.yaml", "production")
	const command = "kubectl gc delete statefulset/db -n shop --unlock=pvc"
	shown, code := prints(t, usual, strings.Fields(strings.TrimPrefix(command, "kubectl gc ")), "staging\n")
	const refused = 5
	if code != refused {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	lines, err := Screen(address.ReplaceAllString(shown, "https://10.0.0.1:6443"), usual)
	if err != nil {
		t.Fatal(err)
	}
	shot := Shot{Title: "kubectl gc delete", Spoken: command, Lines: append([]Line{Typed(command), {}}, lines...), Columns: usual}
	compare(t, filepath.Join(directory, question), shot.SVG())
}

// question is the picture of TestShotOfQuestion.
const question = "delete-question.svg"

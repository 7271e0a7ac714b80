// Package finalizers tries remove-finalizer and undo on a real control plane. What
// they did is judged by what the server has afterwards.
package finalizers

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const collector = "garbage-collector-controller"

var (
	// plane is the control plane of all tests. Each chooses its controllers.
	plane *cluster.Cluster
	// running are the controllers that run.
	running []string
)

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

type body = map[string]any

// stage is a namespace of one test.
type stage struct {
	*testing.T
	ctx            context.Context
	namespace, dir string
}

var separators = regexp.MustCompile(`[^a-z0-9]+`)

// enter makes a namespace, under the controllers that are named.
func enter(t *testing.T, controllers ...string) *stage {
	t.Helper()
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context()), dir: t.TempDir()}
	s.namespace = strings.Trim(separators.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	s.post("/api/v1/namespaces", body{"metadata": body{"name": s.namespace}})
	if !slices.Equal(controllers, running) {
		s.controllers(controllers...)
	}
	return s
}

// controllers has other controllers run, and returns when a collector among them
// collects.
func (s *stage) controllers(names ...string) {
	s.Helper()
	if err := plane.Controllers(names...); err != nil {
		s.Fatal(err)
	}
	running = names
	if slices.Contains(names, collector) {
		s.configMap("collected", nil, "never", "never")
		s.gone(s.in("configmaps/collected"))
	}
}

func (s *stage) do(method, path, form string, o any) []byte {
	s.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		s.Fatal(err)
	}
	answer, err := plane.Do(s.ctx, method, path, form, text)
	if err != nil {
		s.Fatal(err)
	}
	return answer
}

// post creates an object and returns its uid.
func (s *stage) post(path string, o body) string {
	s.Helper()
	return s.read(s.do(http.MethodPost, path, "application/json", o))
}

func (s *stage) read(raw []byte) string {
	s.Helper()
	var o metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &o); err != nil {
		s.Fatal(err)
	}
	return string(o.UID)
}

func (s *stage) in(kind string) string { return "/api/v1/namespaces/" + s.namespace + "/" + kind }

// configMap makes a ConfigMap with finalizers, owned by one of a name and uid.
func (s *stage) configMap(name string, finalizers []string, owner ...string) string {
	s.Helper()
	metadata := body{"name": name, "finalizers": finalizers}
	if len(owner) > 0 {
		metadata["ownerReferences"] = []body{{"apiVersion": "v1", "kind": "ConfigMap", "name": owner[0], "uid": owner[1]}}
	}
	return s.post(s.in("configmaps"), body{"metadata": metadata, "data": body{"of": name}})
}

func (s *stage) delete(path, policy string) {
	s.Helper()
	s.do(http.MethodDelete, path, "application/json", body{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy})
}

// at is an object; nil when it is not there.
func (s *stage) at(path string) *metav1.PartialObjectMetadata {
	s.Helper()
	raw, err := plane.Do(s.ctx, http.MethodGet, path, "", nil)
	if cluster.Code(err) == http.StatusNotFound {
		return nil
	} else if err != nil {
		s.Fatal(err)
	}
	var o metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &o); err != nil {
		s.Fatal(err)
	}
	return &o
}

func (s *stage) gone(path string) {
	s.Helper()
	s.until(path+" is gone", func() bool { return s.at(path) == nil })
}

// until waits for a condition.
func (s *stage) until(what string, holds func() bool) {
	s.Helper()
	cluster.Until(s.T, what, holds)
}

// answer is what a command said.
type answer struct {
	code        int
	out, errOut string
}

// gc runs the program in this process.
func (s *stage) gc(args ...string) answer {
	s.Helper()
	s.Setenv("XDG_STATE_HOME", s.dir)
	s.Setenv("LC_ALL", "C.UTF-8")
	var out, errOut bytes.Buffer
	args = append([]string{"kubectl-gc"}, append(args, "--kubeconfig="+plane.Kubeconfig)...)
	code := cli.Main(s.ctx, args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	return answer{code, out.String(), errOut.String()}
}

var digests = regexp.MustCompile(`--confirm=(sha256:[0-9a-f]{64})`)

// digest is that of the plan of a command.
func (s *stage) digest(args ...string) string {
	s.Helper()
	dry := s.gc(append(args, "--dry-run")...)
	found := digests.FindStringSubmatch(dry.errOut)
	if dry.code != 0 && dry.code != 4 || found == nil { // 4: the plan of an undo is known not to restore everything
		s.Fatalf("%v --dry-run: exit code %d\n%s%s", args, dry.code, dry.out, dry.errOut)
	}
	return found[1]
}

// confirmed runs a command with the digest of the plan that it has now.
func (s *stage) confirmed(args ...string) (a answer) {
	s.Helper()
	// A kind of another test comes or goes: a gap more or less is another plan, and it
	// is looked at again.
	s.until("a plan is the same when it is confirmed", func() bool {
		a = s.gc(append(args, "--confirm="+s.digest(args...))...)
		return a.code != 5 || !strings.Contains(a.errOut, "of another plan")
	})
	return a
}

// want fails unless the code is right and everything was said.
func (s *stage) want(a answer, code int, says ...string) answer {
	s.Helper()
	if a.code != code {
		s.Fatalf("exit code %d, want %d\n%s%s", a.code, code, a.out, a.errOut)
	}
	for _, text := range says {
		if !strings.Contains(a.out+a.errOut, text) {
			s.Errorf("%q is not said:\n%s%s", text, a.out, a.errOut)
		}
	}
	return a
}

// document reads a document that a command has printed.
func document[T report.Run | report.Undo | report.Plan](t *testing.T, a answer) *T {
	t.Helper()
	var d T
	if err := json.Unmarshal([]byte(a.out), &d); err != nil {
		t.Fatalf("%v\n%s%s", err, a.out, a.errOut)
	}
	return &d
}

// bundles are the backups that were made.
func (s *stage) bundles() []string {
	s.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "kubectl-gc", "backups", "*"))
	if err != nil {
		s.Fatal(err)
	}
	return found
}

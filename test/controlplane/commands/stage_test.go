// Package commands tries the commands that write on a real control plane. What they
// did is judged by what the server has before and after, not by what they say.
package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// The controllers of tests.
const (
	collector   = "garbage-collector-controller"
	deployments = "deployment-controller"
	replicas    = "replicaset-controller"
)

// plane is the control plane of all tests. Each chooses its controllers.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if point := os.Getenv(killVariable); point != "" {
		os.Exit(untilKilled(point))
	}
	os.Exit(cluster.Main(m, &plane))
}

// stage is a namespace of one test.
type stage struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	state     string // where backups go
}

var separators = regexp.MustCompile(`[^a-z0-9]+`)

// enter makes a namespace, under the controllers that are named.
func enter(t *testing.T, controllers ...string) *stage {
	t.Helper()
	return enterAs(t, strings.Trim(separators.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-"), controllers...)
}

// enterAs is enter with the name of the namespace.
func enterAs(t *testing.T, namespace string, controllers ...string) *stage {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), cluster.Patience)
	t.Cleanup(stop)
	if err := plane.Controllers(controllers...); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, ctx: ctx, namespace: namespace, state: t.TempDir()}
	s.post("/api/v1/namespaces", body{"metadata": body{"name": s.namespace}})
	if slices.Contains(controllers, collector) {
		s.collecting()
	}
	return s
}

// collecting waits until the collector has started: it takes something that nobody
// misses.
func (s *stage) collecting() {
	s.t.Helper()
	s.configMap("collected", "nobody", "never-was")
	s.until("the garbage collector works", func() bool { return s.says("configmaps", `{.items[?(@.metadata.name=="collected")]}`) == "" })
}

// says is what the resources of the namespace say at a jsonpath.
func (s *stage) says(resource, path string) string {
	s.t.Helper()
	return strings.TrimSpace(string(s.kubectl(nil, "get", resource, "-n", s.namespace, "-o", "jsonpath="+path)))
}

// body is a manifest.
type body = map[string]any

// post creates an object and returns its uid.
func (s *stage) post(path string, o body) string {
	s.t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := plane.Do(s.ctx, http.MethodPost, path, "application/json", text)
	if err != nil {
		s.t.Fatal(err)
	}
	var made struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(answer, &made); err != nil {
		s.t.Fatal(err)
	}
	return made.Metadata.UID
}

// configMap creates a ConfigMap in the namespace, of which another one is the
// owner if its name is given, and returns its uid.
func (s *stage) configMap(name, owner, uid string) string {
	s.t.Helper()
	metadata := body{"name": name}
	if owner != "" {
		metadata["ownerReferences"] = []body{{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid}}
	}
	return s.post("/api/v1/namespaces/"+s.namespace+"/configmaps", body{"metadata": metadata})
}

func (s *stage) kubectl(input []byte, args ...string) []byte {
	s.t.Helper()
	out, err := plane.Kubectl(s.ctx, input, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// create creates what a manifest says, in the namespace.
func (s *stage) create(manifest string) {
	s.t.Helper()
	s.kubectl([]byte(manifest), "create", "-n", s.namespace, "-f", "-")
}

// answer is what a command said.
type answer struct {
	code   int
	stdout string
	stderr string
}

// person is standard input with somebody at a terminal, who types something.
type person struct{ io.Reader }

// AtTerminal says that somebody is there.
func (person) AtTerminal() bool { return true }

// gc runs the program in this process.
func (s *stage) gc(ctx context.Context, args ...string) answer {
	s.t.Helper()
	return s.typed(ctx, nil, args...)
}

func (s *stage) typed(ctx context.Context, in io.Reader, args ...string) answer {
	s.t.Helper()
	if in == nil {
		in = &bytes.Buffer{}
	}
	s.t.Setenv("XDG_STATE_HOME", s.state)
	s.t.Setenv("LC_ALL", "C.UTF-8")
	var out, errOut bytes.Buffer
	args = append([]string{"kubectl-gc"}, append(args, "--kubeconfig="+plane.Kubeconfig)...)
	code := cli.Main(ctx, args, genericiooptions.IOStreams{In: in, Out: &out, ErrOut: &errOut})
	for line := range strings.Lines(wraps.ReplaceAllString(out.String()+errOut.String(), " ")) {
		if printed.MatchString(line) && !strings.Contains(line, "--kubeconfig=") {
			s.t.Errorf("%q: a command does not reach the cluster of the run: %s", args, line)
		}
	}
	return answer{code, out.String(), errOut.String()}
}

// printed is a command in an answer, except the one with which usage errors point to a help text. wraps is
// where a sentence goes on.
var (
	printed = regexp.MustCompile(`(^|[^'])\b(kubectl|helm uninstall) [a-z]`)
	wraps   = regexp.MustCompile(`\n +`)
)

var digests = regexp.MustCompile(`--confirm=(sha256:[0-9a-f]{64})`)

// confirmed runs a command with the digest of the plan that it has now.
func (s *stage) confirmed(args ...string) answer {
	s.t.Helper()
	dry := s.gc(s.ctx, append(args, "--dry-run")...)
	found := digests.FindStringSubmatch(dry.stderr)
	if dry.code != 0 || found == nil {
		s.t.Fatalf("%v --dry-run: %+v", args, dry)
	}
	return s.gc(s.ctx, append(args, "--confirm="+found[1])...)
}

// want fails unless the code is right and everything was said.
func (a answer) want(t *testing.T, code int, says ...string) answer {
	t.Helper()
	if a.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", a.code, code, a.stdout, a.stderr)
	}
	for _, text := range says {
		if !strings.Contains(a.stdout+a.stderr, text) {
			t.Errorf("%q is not said:\n%s%s", text, a.stdout, a.stderr)
		}
	}
	return a
}

// run reads the report of a run.
func (a answer) run(t *testing.T) *report.Run {
	t.Helper()
	var r report.Run
	if err := json.Unmarshal([]byte(a.stdout), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, a.stdout, a.stderr)
	}
	return &r
}

// world is all that the server has in the namespace, by kind and name, with the
// resourceVersion of each object. What the control plane writes by itself is left
// out.
func (s *stage) world() map[string]string {
	s.t.Helper()
	client, err := plane.Connect(kube.Options{Version: "test", Command: "oracle"})
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	snap, err := client.Snapshot(s.ctx, kube.Scope{Namespaces: []string{s.namespace}, Exclude: []string{"events*", "leases*"}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for _, o := range snap.Objects {
		if o.Namespace == s.namespace || strings.HasPrefix(o.Name, s.namespace) {
			all[o.Kind+"/"+o.Name] = o.ResourceVersion
		}
	}
	return all
}

// names are the names of a world.
func (s *stage) names(kind string) []string {
	s.t.Helper()
	var names []string
	for name := range s.world() {
		if k, n, _ := strings.Cut(name, "/"); k == kind && n != "kube-root-ca.crt" {
			names = append(names, n)
		}
	}
	return names
}

// until waits for a condition.
func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	cluster.Until(s.t, what, holds)
}

// fill puts names and uids of the namespace into a text.
func (s *stage) fill(text string) string {
	s.t.Helper()
	for word, name := range map[string]string{"OWNER": "owner", "OTHER": "other"} {
		if strings.Contains(text, word) {
			text = strings.ReplaceAll(text, word, s.uid(name))
		}
	}
	return strings.ReplaceAll(text, "NAMESPACE", s.namespace)
}

package restore

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// controllers are those that make, change or delete what the tests of commands make.
var controllers = []string{
	"namespace-controller", "garbage-collector-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"deployment-controller", "replicaset-controller", "statefulset-controller", "job-controller",
	"endpoints-controller", "endpointslice-controller", "persistentvolumeclaim-protection-controller",
}

// plane is the control plane of the tests that run the commands.
var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

// scene is a test in which people run commands.
type scene struct {
	*testing.T
	ctx   context.Context
	plane *cluster.Cluster
	state string // where backups go
}

var controlling = false

func enter(t *testing.T) *scene {
	t.Helper()
	if !controlling {
		if err := plane.Controllers(controllers...); err != nil {
			t.Fatal(err)
		}
		controlling = true
	}
	return &scene{t, context.WithoutCancel(t.Context()), plane, t.TempDir()}
}

func (s *scene) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) kubectl(manifest string, args ...string) string {
	s.Helper()
	out, err := s.plane.Kubectl(s.ctx, []byte(manifest), args...)
	s.check(err)
	return strings.TrimSpace(string(out))
}

// create creates what a manifest says.
func (s *scene) create(manifest string) {
	s.Helper()
	s.kubectl(manifest, "create", "-f", "-")
}

// says waits until a resource says something at a jsonpath.
func (s *scene) says(what, resource, path, text string) {
	s.Helper()
	cluster.Until(s.T, what, func() bool {
		out, err := s.plane.Kubectl(s.ctx, nil, append(strings.Fields("get "+resource), "-o", "jsonpath="+path)...)
		return err == nil && string(out) == text
	})
}

// gone waits until a path is not there any more.
func (s *scene) gone(path string) {
	s.Helper()
	cluster.Until(s.T, path+" is gone", func() bool {
		_, err := s.plane.Do(s.ctx, http.MethodGet, path, "", nil)
		return cluster.Code(err) == http.StatusNotFound
	})
}

// answer is what a command said.
type answer struct {
	code        int
	out, errOut string
}

// gc runs the program in this process.
func (s *scene) gc(args ...string) answer {
	s.Helper()
	return s.typed(&bytes.Buffer{}, args...)
}

func (s *scene) typed(in io.Reader, args ...string) answer {
	s.Helper()
	s.Setenv("XDG_STATE_HOME", s.state)
	s.Setenv("LC_ALL", "C.UTF-8")
	var out, errOut bytes.Buffer
	args = append([]string{"kubectl-gc"}, append(args, "--kubeconfig="+s.plane.Kubeconfig)...)
	code := cli.Main(s.ctx, args, genericiooptions.IOStreams{In: in, Out: &out, ErrOut: &errOut})
	return answer{code, out.String(), errOut.String()}
}

var digests = regexp.MustCompile(`--confirm=(sha256:[0-9a-f]{64})`)

// confirmed runs a command with the digest of the plan that it has now.
func (s *scene) confirmed(args ...string) answer {
	s.Helper()
	dry := s.gc(append(args, "--dry-run")...)
	found := digests.FindStringSubmatch(dry.errOut)
	if dry.code != 0 || found == nil {
		s.Fatalf("%v --dry-run: exit code %d\n%s%s", args, dry.code, dry.out, dry.errOut)
	}
	return s.gc(append(args, "--confirm="+found[1])...)
}

// undone undoes a backup as somebody who was shown the plan, and wants it to succeed.
func (s *scene) undone(dir string, args ...string) *report.Undo {
	s.Helper()
	a := s.confirmed(append([]string{"undo", dir, "-o", "json"}, args...)...)
	var u report.Undo
	if err := json.Unmarshal([]byte(a.out), &u); err != nil {
		s.Fatalf("exit code %d, %v\n%s%s", a.code, err, a.out, a.errOut)
	}
	if a.code != 0 {
		s.Errorf("exit code %d: %s", a.code, a.errOut)
		for _, x := range u.Steps {
			if x.State != report.StepMade && x.State != report.StepRestored {
				s.Errorf("step %d, %s %s/%s: %s %s", x.N, x.Object.Kind, x.Object.Namespace, x.Object.Name, x.State, x.Message)
			}
		}
	}
	return &u
}

// bundle keeps objects in a backup, as all of them gone by one delete.
func (s *scene) bundle(all objects, head backup.Cluster) string {
	s.Helper()
	now := time.Now()
	w, err := backup.Create(filepath.Join(s.state, "backups"), backup.Head{
		Tool: "test", Command: "delete", PlanDigest: "sha256:" + strings.Repeat("0", 64), Created: now, Secrets: true, Cluster: head,
	})
	s.check(err)
	for _, key := range all.keys() {
		o := all[key]
		ref := object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
		_, err := w.Add(ref, backup.Deleted, o.raw)
		s.check(err)
	}
	s.check(w.Seal())
	s.check(w.Close(now))
	return w.Path()
}

// here is the identity of the control plane.
func (s *scene) here() backup.Cluster {
	s.Helper()
	var id backup.Cluster
	id.UID = uidOf(s.kubectl("", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"))
	id.Server = s.plane.URL
	return id
}

// Package helm compares the plans of `dry-run delete helm/NAME` with what Helm does, object by object.
// Helm is its own library, on a real control plane.
package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helmkube "helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the control plane of all tests.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(cluster.Main(m, &plane))
}

var separators = regexp.MustCompile(`[^a-z0-9]+`)

var controllers = sync.OnceValue(func() error {
	return plane.Controllers("garbage-collector-controller", "namespace-controller", "deployment-controller", "replicaset-controller",
		"statefulset-controller", "persistentvolumeclaim-protection-controller")
})

// stage is a release in a namespace of one test. {{ns}} in a file of a chart is the namespace.
type stage struct {
	*testing.T
	namespace, driver string
	config            *action.Configuration
}

// enter makes the namespaces of a test: its own, and one with -other at the end.
func enter(t *testing.T, driver string) *stage {
	t.Helper()
	if err := controllers(); err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, driver: driver}
	s.namespace = strings.Trim(separators.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	for _, name := range []string{s.namespace, s.namespace + "-other"} {
		s.create("/api/v1/namespaces", fmt.Sprintf(`{"metadata": {"name": %q}}`, name))
	}
	s.connect()
	return s
}

// connect connects Helm to the cluster, without what it knows from before.
func (s *stage) connect() {
	s.Helper()
	flags, dir := plane.Flags(), s.TempDir()
	flags.Namespace, flags.CacheDir = &s.namespace, &dir
	s.config = action.NewConfiguration()
	if err := s.config.Init(flags, s.namespace, s.driver); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) create(path, text string) {
	s.Helper()
	if _, err := plane.Do(context.WithoutCancel(s.Context()), "POST", path, "application/json", []byte(text)); err != nil {
		s.Fatal(err)
	}
}

// patch merges a text into an object.
func (s *stage) patch(path, text string) {
	s.Helper()
	if _, err := plane.Do(s.Context(), "PATCH", path, "application/merge-patch+json", []byte(text)); err != nil {
		s.Fatal(err)
	}
}

// remove deletes an object.
func (s *stage) remove(path string) {
	s.Helper()
	if _, err := plane.Do(s.Context(), "DELETE", path, "application/json", nil); err != nil {
		s.Fatal(err)
	}
}

// chart loads a chart from its files.
func (s *stage) chart(files map[string]string) *chart.Chart {
	s.Helper()
	var list []*archive.BufferedFile
	for name, text := range files {
		list = append(list, &archive.BufferedFile{Name: name, Data: []byte(strings.ReplaceAll(text, "{{ns}}", s.namespace))})
	}
	if files["Chart.yaml"] == "" {
		list = append(list, &archive.BufferedFile{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.2.3\n")})
	}
	c, err := loader.LoadFiles(list)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *stage) install(name string, c *chart.Chart) {
	s.Helper()
	i := action.NewInstall(s.config)
	i.ReleaseName, i.Namespace, i.WaitStrategy, i.Timeout = name, s.namespace, helmkube.HookOnlyStrategy, time.Minute
	if _, err := i.Run(c, nil); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) upgrade(name string, c *chart.Chart) error {
	u := action.NewUpgrade(s.config)
	u.Namespace, u.WaitStrategy, u.Timeout = s.namespace, helmkube.HookOnlyStrategy, time.Minute
	_, err := u.Run(name, c, nil)
	return err
}

// uninstall has Helm uninstall a release.
func (s *stage) uninstall(name, cascade string, keepHistory bool) error {
	u := action.NewUninstall(s.config)
	u.DeletionPropagation, u.KeepHistory, u.WaitStrategy, u.Timeout = cascade, keepHistory, helmkube.HookOnlyStrategy, time.Minute
	_, err := u.Run(name)
	return err
}

// finishJobs plays the Job controller and a kubelet: every Job is complete.
func (s *stage) finishJobs() {
	ctx, end := context.WithCancel(s.Context())
	ended := make(chan struct{})
	s.Cleanup(func() { end(); <-ended })
	go func() {
		defer close(ended)
		jobs := "/apis/batch/v1/namespaces/" + s.namespace + "/jobs"
		for ctx.Err() == nil {
			text, err := plane.Do(ctx, "GET", jobs, "", nil)
			var list struct {
				Items []struct {
					Metadata struct{ Name string }
					Status   struct{ Succeeded int }
				}
			}
			if err == nil && json.Unmarshal(text, &list) == nil {
				now := time.Now().UTC().Format(time.RFC3339)
				for _, j := range list.Items {
					if j.Status.Succeeded == 0 {
						_, _ = plane.Do(ctx, "PATCH", jobs+"/"+j.Metadata.Name+"/status", "application/merge-patch+json", fmt.Appendf(nil,
							`{"status": {"startTime": %[1]q, "completionTime": %[1]q, "succeeded": 1, "conditions": [
							{"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": %[1]q}, {"type": "Complete", "status": "True", "lastTransitionTime": %[1]q}]}}`, now))
					}
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

// objects returns the objects of the namespaces of the test, and those without a namespace.
func (s *stage) objects() map[types.UID]object.Ref {
	s.Helper()
	client, err := plane.Connect(kube.Options{})
	if err != nil {
		s.Fatal(err)
	}
	defer client.Close()
	snap, err := client.Snapshot(s.Context(), kube.Scope{Exclude: []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io"}}, nil)
	if err != nil {
		s.Fatal(err)
	}
	all := map[types.UID]object.Ref{}
	for _, o := range snap.Objects {
		if o.Namespace == "" || o.Namespace == s.namespace || o.Namespace == s.namespace+"-other" {
			all[o.UID] = o.Ref
		}
	}
	return all
}

// run runs the program, and returns what it prints and its exit code.
func (s *stage) run(args ...string) (out, errOut string, code int) {
	var stdout, stderr bytes.Buffer
	args = append(append([]string{"kubectl-gc"}, args...), "--kubeconfig="+plane.Kubeconfig, "-n", s.namespace)
	code = cli.Main(s.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	return stdout.String(), stderr.String(), code
}

// plan returns the plan of the delete of a release.
func (s *stage) plan(name string, flags ...string) *report.Plan {
	s.Helper()
	out, errOut, code := s.run(append([]string{"dry-run", "delete", "helm/" + name, "-o", "json"}, flags...)...)
	var p report.Plan
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 {
		s.Fatalf("exit code %d: %v\n%s%s", code, err, out, errOut)
	}
	return &p
}

// judge compares the plan for a release with what Helm does with it. It returns the plan.
func (s *stage) judge(name, cascade string, keepHistory bool, flags ...string) *report.Plan {
	s.Helper()
	flags = append(flags, "--cascade="+cascade)
	if keepHistory {
		flags = append(flags, "--keep-history")
	}
	before := s.quiet()
	p := s.plan(name, flags...)
	if err := s.uninstall(name, cascade, keepHistory); err != nil {
		s.Fatal(err)
	}
	var gone, predicted, created, hooks []string
	for i := range p.Effects {
		if e := &p.Effects[i]; e.Outcome == report.Deleted {
			predicted = append(predicted, e.Object.ShortName())
		}
	}
	after := s.quiet()
	for uid, ref := range before {
		if after[uid] == (object.Ref{}) {
			gone = append(gone, ref.ShortName())
		}
	}
	for uid, ref := range after {
		if before[uid] == (object.Ref{}) {
			created = append(created, ref.ShortName())
		}
	}
	for _, h := range p.Seed.Uninstall.Hooks {
		if !slices.Contains(h.DeletePolicies, "hook-succeeded") {
			hooks = append(hooks, h.Object.ShortName())
		}
	}
	s.same("deleted", predicted, gone)
	s.same("created and left", hooks, created)
	s.Logf("%d objects deleted as predicted, %d left by hooks", len(gone), len(created))
	return p
}

// quiet waits until nothing has changed for two seconds, and returns what is there.
func (s *stage) quiet() map[types.UID]object.Ref {
	s.Helper()
	last := s.objects()
	for same, tries := 0, 0; same < 4; tries++ {
		if tries > 100 {
			s.Fatal("the cluster does not come to rest")
		}
		time.Sleep(500 * time.Millisecond)
		now := s.objects()
		if same++; !maps.Equal(now, last) {
			same = 0
		}
		last = now
	}
	return last
}

func (s *stage) same(what string, want, got []string) {
	s.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		s.Errorf("%s:\npredicted %v\nreally    %v", what, want, got)
	}
}

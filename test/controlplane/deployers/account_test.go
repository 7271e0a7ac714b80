package deployers

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var runs = flag.Int("runs", 40, "runs of TestAccount")

// TestAccount deletes any objects of a world with the program, while Flux' own code deletes what it has
// applied. Whatever is deleted or changed is in the account of the plan that was confirmed.
func TestAccount(t *testing.T) {
	const atOnce = 20
	s := enter(t)
	total := map[string]int{}
	for first := 0; first < *runs; first += atOnce {
		var all []*trial
		for i := first; i < min(first+atOnce, *runs); i++ {
			x := &trial{world: draw(*seed+uint64(i), fmt.Sprintf("a%d", i)), seed: *seed + uint64(i)}
			s.create(x.world)
			x.before = s.states(x.world)
			x.drawRequest()
			all = append(all, x)
		}
		s.fence()
		stop := s.deployBeside()
		for _, x := range all {
			s.run(x)
		}
		stop()
		s.work(t.Context())
		cluster.Until(s, "the deleted namespaces are empty or held", func() bool { return s.namespacesRest(all) })
		for _, x := range all {
			s.judge(x, total)
			s.clear(x.world)
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("from seed %d: %v", *seed, total)
	for _, what := range []string{"runs", "deleted by Flux", "namespaces"} {
		if total[what] == 0 && *runs >= 40 {
			t.Errorf("%s: none, so that the test shows little", what)
		}
	}
}

// trial is one run in one world.
type trial struct {
	*world
	seed         uint64
	targets      []string
	policy       string
	before       map[string]state
	plan         report.Plan
	refused      string
	ofANamespace bool
}

// state is what a run may change of an object.
type state struct {
	deleting bool
	owners   int
}

// drawRequest draws what is deleted: the Kustomization, one or two other objects, or the namespace.
func (x *trial) drawRequest() {
	x.policy = []string{"background", "background", "foreground", "orphan"}[x.IntN(4)]
	switch x.IntN(6) {
	case 0, 1, 2:
		x.targets = []string{"kustomization/app"}
	case 3:
		x.targets, x.ofANamespace = []string{"namespace/" + x.namespace}, true
	default:
		for range 1 + x.IntN(2) {
			o := x.objects[x.IntN(len(x.objects))]
			kind := strings.ToLower(o.GetKind())
			if group := o.GroupVersionKind().Group; group != "" {
				kind += "." + group
			}
			if target := kind + "/" + o.GetName(); !slices.Contains(x.targets, target) {
				x.targets = append(x.targets, target)
			}
		}
	}
}

// run confirms the plan of a trial.
func (s *stage) run(x *trial) {
	s.Helper()
	s.heartbeat()
	args := append(slices.Clone(x.targets), "--cascade="+x.policy, "--unlock=pvc,namespace,unseen", "--no-backup", "--kubeconfig", plane.Kubeconfig, "-o", "json")
	if !x.ofANamespace {
		args = append(args, "-n", x.namespace)
	}
	text, complaint := s.gc(append([]string{"dry-run", "delete"}, args...)...)
	if json.Unmarshal(text, &x.plan) != nil || x.plan.Digest == "" {
		x.refused = complaint
		return
	}
	text, complaint = s.gc(append([]string{"delete"}, append(args, "--wait=false", "--confirm="+x.plan.Digest)...)...)
	var r struct{ State string }
	if json.Unmarshal(text, &r) != nil || r.State == "" {
		x.refused = complaint
	}
}

// gc runs the program.
func (s *stage) gc(args ...string) (stdout []byte, stderr string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), s.program, args...)
	text, err := cmd.Output()
	ended, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ok:
		return text, string(ended.Stderr)
	case err != nil:
		s.Fatalf("%s: %v", cmd, err)
	}
	return text, ""
}

// deployBeside lets Flux delete until stop is called.
func (s *stage) deployBeside() (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var list unstructured.UnstructuredList
			list.SetGroupVersionKind(kustomizationKind)
			if s.client.List(ctx, &list) == nil {
				for i := range list.Items {
					if o := &list.Items[i]; o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), fluxFinalizer) {
						_ = finalize(ctx, s.client, o) // work finishes what fails here
					}
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// states returns the objects of a world that exist.
func (s *stage) states(w *world) map[string]state {
	s.Helper()
	all := map[string]state{}
	for _, o := range append(slices.Clone(w.objects), w.from) {
		at := &unstructured.Unstructured{}
		at.SetGroupVersionKind(o.GroupVersionKind())
		switch err := s.client.Get(s.Context(), client.ObjectKeyFromObject(o), at); {
		case apierrors.IsNotFound(err):
		case err != nil:
			s.Fatal(err)
		default:
			all[nameOf(o)] = state{at.GetDeletionTimestamp() != nil, len(at.GetOwnerReferences())}
		}
	}
	return all
}

// namespacesRest reports whether of each deleted namespace only objects are left that finalizers hold.
func (s *stage) namespacesRest(all []*trial) bool {
	s.Helper()
	for _, x := range all {
		if !x.ofANamespace || x.refused != "" {
			continue
		}
		for _, o := range append(slices.Clone(x.objects), x.from) {
			at := &unstructured.Unstructured{}
			at.SetGroupVersionKind(o.GroupVersionKind())
			if o.GetNamespace() != "" && s.client.Get(s.Context(), client.ObjectKeyFromObject(o), at) == nil && at.GetDeletionTimestamp() == nil {
				return false
			}
		}
	}
	s.work(s.Context())
	return true
}

// judge compares what has changed in a world with the account.
func (s *stage) judge(x *trial, total map[string]int) {
	s.Helper()
	if x.refused != "" {
		total["refused"]++
		if !strings.Contains(x.refused, "would be refused") {
			s.Errorf("seed %d: delete %s: %s", x.seed, x.targets, x.refused)
		}
		return
	}
	account, reasons := map[string]report.Change{}, map[string]string{}
	for i := range x.plan.Effects {
		if e := &x.plan.Effects[i]; e.Consequence != nil {
			account[e.Object.Kind+"/"+e.Object.Name], reasons[e.Object.Kind+"/"+e.Object.Name] = e.Consequence.Change, e.Reason
		}
	}
	total["runs"]++
	if x.ofANamespace {
		total["namespaces"]++
	}
	after := s.states(x.world)
	for _, name := range slices.Sorted(maps.Keys(x.before)) {
		now, there := after[name]
		deleted := !there || now.deleting
		switch change, in := account[name]; {
		case !deleted && now == x.before[name]:
			total["stayed"]++
		case !in, deleted && change != report.ChangeDeleted:
			s.Errorf("seed %d: delete %s (%s) has changed %s, which is %q in the account; there: %t, %+v", x.seed, x.targets, x.policy, name, change, there, now)
		case deleted && reasons[name] == "Undeployed":
			total["deleted by Flux"]++
		case deleted:
			total["deleted"]++
		default:
			total["edited"]++
		}
	}
}

// clear removes a world.
func (s *stage) clear(w *world) {
	s.Helper()
	for _, o := range append(slices.Clone(w.objects), w.from) {
		at := &unstructured.Unstructured{}
		at.SetGroupVersionKind(o.GroupVersionKind())
		at.SetName(o.GetName())
		at.SetNamespace(o.GetNamespace())
		free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		_ = client.IgnoreNotFound(s.client.Patch(s.Context(), at, free))
		s.must(client.IgnoreNotFound(s.client.Delete(s.Context(), at)))
	}
	space := &unstructured.Unstructured{}
	space.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	space.SetName(w.namespace)
	s.must(client.IgnoreNotFound(s.client.Delete(s.Context(), space)))
}

package plan_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// strange is a server that fails now and then. It records the requested writes.
type strange struct {
	*apisim.Server
	t      *rapid.T
	writes []string
}

func (s *strange) fault() error {
	if rapid.IntRange(0, 9).Draw(s.t, "fault") == 0 {
		return apierrors.NewInternalError(fmt.Errorf("drawn"))
	}
	return nil
}

func (s *strange) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := s.fault(); err != nil {
		return nil, err
	}
	return s.Server.Get(ctx, ref)
}

func (s *strange) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	s.writes = append(s.writes, fmt.Sprintf("DELETE %s %s", ref.UID, *o.PropagationPolicy))
	if err := s.fault(); err != nil {
		return err
	}
	return s.Server.Delete(ctx, ref, o)
}

func (s *strange) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	s.writes = append(s.writes, fmt.Sprintf("PATCH %s", ref.UID))
	if err := s.fault(); err != nil {
		return err
	}
	return s.Server.Patch(ctx, ref, p)
}

// guarded is the world of a guarded collector.
type guarded struct {
	*strange
	guard *plan.Guard
}

func (g *guarded) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	return g.guard.Delete(ctx, ref, o)
}

func (g *guarded) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	return g.guard.Patch(ctx, ref, p)
}

// TestGuardSendsOnlyWhatThePlanShows checks that a guarded run sends only writes of its plan,
// whatever fails and whatever others write in the meantime.
func TestGuardSendsOnlyWhatThePlanShows(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		result := simulate(t, snap, plan.CollectSeed(), plan.Options{})
		shown := map[string]bool{}
		for _, step := range result.Plan.Steps {
			if step.Actor == "collector" {
				shown[written(step)] = true
			}
		}
		server := &strange{Server: apisim.New(snap.Objects, snap.Resources, apisim.WithCoverage(snap)), t: t}
		meddle(t, server.Server)
		w := &guarded{strange: server, guard: result.Guard(server)}
		c := engine.New()
		for _, o := range server.Objects() {
			c.Observe(object.Event{Type: object.Added, Object: o})
		}
		server.Events()
		if err := engine.Drain(t.Context(), c, w, engine.Follow{}); err != nil {
			t.Fatal(err)
		}
		for _, write := range server.writes {
			if !shown[write] {
				t.Fatalf("%s was sent and is not in the plan", write)
			}
		}
		refused += len(w.guard.Surprises())
	})
	if refused == 0 {
		t.Error("no drawn run had a write to refuse: the property shows nothing")
	}
}

func written(s report.Step) string {
	if s.Verb == "PATCH" {
		return fmt.Sprintf("PATCH %s", s.Object.UID)
	}
	return fmt.Sprintf("%s %s %s", s.Verb, s.Object.UID, s.Policy)
}

// meddle makes the changes of other clients between the plan and the run.
func meddle(t *rapid.T, s *apisim.Server) {
	policy := metav1.DeletePropagationBackground
	for _, o := range s.Objects() {
		switch rapid.IntRange(0, 5).Draw(t, "meddle") {
		case 0:
			// A refused delete changes nothing, which is fine here.
			_ = s.Delete(t.Context(), o.Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
		case 1:
			none := []string{}
			_ = s.Patch(t.Context(), o.Ref, object.Patch{Type: object.Merge, Finalizers: &none})
		}
	}
}

func TestGuardWantsWritesPinnedToWhatIsMeant(t *testing.T) {
	a := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a", UID: "a"}, ResourceVersion: "1",
		Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"}}}
	snap := wholeSnapshot(t, a)
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	background, foreground := metav1.DeletePropagationBackground, metav1.DeletePropagationForeground
	uid, other := types.UID("a"), types.UID("b")
	for _, tt := range []struct {
		name string
		o    metav1.DeleteOptions
		ok   bool
	}{
		{"as planned", metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}}, true},
		{"without a uid", metav1.DeleteOptions{PropagationPolicy: &background}, false},
		{"with another uid", metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &other}}, false},
		{"with another policy", metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid}}, false},
		{"without a policy", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}, false},
	} {
		g := result.Guard(apisim.New(snap.Objects, snap.Resources))
		if err := g.Delete(t.Context(), a.Ref, tt.o); (err == nil) != tt.ok || (len(g.Surprises()) == 0) != tt.ok {
			t.Errorf("%s: %v, surprises %v", tt.name, err, g.Surprises())
		}
	}
	g := result.Guard(apisim.New(snap.Objects, snap.Resources))
	if err := g.Patch(t.Context(), a.Ref, object.Patch{UID: "a", DeleteOwners: []types.UID{"gone"}}); err == nil {
		t.Error("a patch that is not in the plan passes")
	}
}

// wholeSnapshot returns a snapshot of these objects that covers everything.
func wholeSnapshot(t *testing.T, objects ...*object.Object) *snapshot.Snapshot {
	t.Helper()
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

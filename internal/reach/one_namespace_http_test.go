package reach_test

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestPlanOverHTTP reads drawn worlds from a server, as commands do: a delete has the same effects
// whether one namespace was read or all.
func TestPlanOverHTTP(t *testing.T) {
	enough := 0
	rapid.Check(t, func(rt *rapid.T) {
		world := scenario.DrawWorld(rt, varieties(rt)&^scenario.RepeatedUIDs)
		var inside []object.Ref
		for _, o := range world.Objects {
			if o.Namespace == "n" && o.Kind != "Event" { // snapshots leave out Events
				inside = append(inside, o.Ref)
			}
		}
		if len(inside) == 0 {
			return
		}
		client, closed := serve(t, world.Objects)
		defer closed()
		seed := plan.DeleteSeed(engine.Background, rapid.SampledFrom(inside).Draw(rt, "target"))
		near := read(rt, client, kube.Scope{Namespaces: []string{"n"}})
		part := simulated(rt, near, seed)
		if reach.InNamespace(near, "n").WhyPlanDiffers(part) != "" {
			return
		}
		enough++
		all := simulated(rt, read(rt, client, kube.Scope{}), seed)
		if diff := cmp.Diff(within(all), within(part)); diff != "" {
			rt.Fatalf("what the delete does (-whole +part):\n%s", diff)
		}
		if !part.Complete || len(part.Source.Namespaces) != 1 {
			rt.Fatalf("complete %v, looked at %v, gaps %v", part.Complete, part.Source.Namespaces, part.Gaps)
		}
	})
	if enough == 0 {
		t.Error("the part was never enough")
	}
}

// within returns the effects that a delete has in namespace n.
func within(p *report.Plan) []report.Effect {
	var effects []report.Effect
	for _, e := range p.Effects {
		if !e.AlreadyHappening && e.Object.Namespace == "n" {
			effects = append(effects, e)
		}
	}
	return effects
}

func read(t *rapid.T, client *kube.Client, scope kube.Scope) *snapshot.Snapshot {
	snap, err := client.Snapshot(t.Context(), scope, nil)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// serve starts a server with these objects and the kinds that may be drawn.
func serve(t *testing.T, objects []*object.Object) (*kube.Client, func()) {
	t.Helper()
	rs := &object.Resources{}
	for _, r := range scenario.Resources().All() {
		switch r.Kind {
		case "ConfigMap", "ReplicaSet", "Secret", "Widget", "Gadget", "ClusterRole", "Role", "Pod", "Event", "Namespace":
			rs.Add(r)
		}
	}
	server := httptest.NewServer(facade.New(objects, rs, facade.Documents(rs.All())))
	client, err := kube.Connect(&rest.Config{Host: server.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() {
		client.Close()
		server.Close()
	}
}

package impact_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestWaits: what an object waits for has to be in the part, with everything connected to it.
func TestWaits(t *testing.T) {
	held := dying(configMap("held", "", "", "example.com/x"))
	near := dying(configMap("near", "", "", "example.com/x"))
	lost := dying(configMap("lost", "ConfigMap", "gone", "example.com/x"))
	linked := dying(configMap("linked", "", "", "example.com/x"))
	of := configMap("of", "ConfigMap", "linked")
	of.Owners = append(of.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"})
	role := &object.Object{Ref: object.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "r", UID: "r"}, ResourceVersion: "1"}
	elsewhere := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "m", Name: "e", UID: "e"}, ResourceVersion: "1"}
	snap, err := snapshot.New([]*object.Object{held, near, lost, linked, of, role}, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	part := impact.InNamespace(snap, "n")
	for name, c := range map[string]struct {
		chain []*object.Object
		more  int
		told  string
	}{
		"itself":                                       {[]*object.Object{held}, 0, ""},
		"one beside it":                                {[]*object.Object{held, near}, 0, ""},
		"one without a namespace":                      {[]*object.Object{held, role}, 0, ""},
		"one in another namespace":                     {[]*object.Object{held, elsewhere}, 0, "is not in namespace n"},
		"one whose owner is not seen":                  {[]*object.Object{held, lost}, 0, "refers to ConfigMap gone"},
		"one with a dependent whose owner is not seen": {[]*object.Object{held, linked}, 0, "refers to ConfigMap gone"},
		"several":                                      {[]*object.Object{held, near}, 1, "waits for several objects"},
	} {
		t.Run(name, func(t *testing.T) {
			f := report.Finding{Object: report.RefOf(held.Ref), More: c.more}
			for _, o := range c.chain {
				f.Chain = append(f.Chain, report.WaitLink{Ref: report.RefOf(o.Ref)})
			}
			e := &report.Explanation{Object: f.Object, WaitsFor: []report.Finding{{Object: f.Object, Chain: []report.WaitLink{{Ref: f.Object}}}, f}}
			says(t, "waits", part.Waits(e), c.told)
		})
	}
}

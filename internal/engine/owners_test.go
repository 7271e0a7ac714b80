package engine

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// ownerCounts are below and above the number of bits of a word.
var ownerCounts = []int{1, 63, 64, 65, 128, 129, 200}

// ownedBy returns an object with n owners, ConfigMaps with numbers as name and UID.
func ownedBy(n int) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "dependent", UID: "dependent"}, ResourceVersion: "1"}
	for i := range n {
		name := ownerName(i)
		o.Owners = append(o.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)})
	}
	return o
}

func ownerName(i int) string { return fmt.Sprintf("owner-%03d", i) }

func ownerAt(i int, namespace string) *object.Object {
	return &object.Object{Ref: object.Ref{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: ownerName(i), UID: types.UID(ownerName(i)),
	}}
}

// judged returns the decision on the dependent by a collector that has observed these objects, over
// a server that stores others.
func judged(t *testing.T, c *Collector, stored, observed []*object.Object) Decision {
	t.Helper()
	for _, o := range observed {
		c.Observe(object.Event{Type: object.Added, Object: o})
	}
	id, ok := c.graph.Find("dependent")
	if !ok {
		t.Fatal("the dependent was not observed")
	}
	api := apisim.New(stored, coreResources())
	return c.Decide(Lookup(context.Background(), api, c.rules, c.attempt(DeleteWork, id)))
}

// The knowledge of strict rules about an owner doesn't depend on the position of its reference. The
// last one decides here.
func TestStrictRulesHoldForEveryOwner(t *testing.T) {
	for _, n := range ownerCounts {
		dependent, last := ownedBy(n), n-1
		for _, tt := range []struct {
			name     string
			owner    *object.Object
			evidence Evidence
		}{
			{"under other coordinates", ownerAt(last, "elsewhere"), Elsewhere},
			{"observed, and not found", ownerAt(last, "n"), StillObserved},
		} {
			c := New(WithRules(Strict))
			d := judged(t, c, []*object.Object{dependent}, []*object.Object{tt.owner, dependent})
			if d.Reason != reason.AbsenceNotProven || len(d.Requests) > 0 {
				t.Errorf("%d owners, the last one %s: %s with %d requests, want AbsenceNotProven", n, tt.name, d.Reason, len(d.Requests))
			}
			if len(d.Owners) != n || d.Owners[last].Evidence != tt.evidence {
				t.Errorf("%d owners, the last one %s: %d facts, the evidence of the last is %d", n, tt.name, len(d.Owners), d.Owners[last].Evidence)
			}
			a, _ := c.Inspect("dependent")
			for i := range n {
				if want := i == last && tt.evidence == Elsewhere; a.ObservedElsewhere(i) != want {
					t.Errorf("%d owners, the last one %s: owner %d observed elsewhere is %v", n, tt.name, i, !want)
				}
			}
		}
	}
}

// A remembered absence and a known wait hold for the last owner as for the first: it is not read.
func TestWhatIsKnownOfEveryOwner(t *testing.T) {
	for _, n := range ownerCounts {
		dependent, last := ownedBy(n), n-1
		owner := ownerAt(last, "n")
		d := judged(t, New(WithAbsent(owner.Ref)), []*object.Object{dependent, owner}, []*object.Object{dependent})
		if d.Reason != reason.NoExistingOwner || d.Owners[last].Evidence != Remembered {
			t.Errorf("%d owners, the last one remembered as absent: %s, evidence %d", n, d.Reason, d.Owners[last].Evidence)
		}

		waiting := owner.Clone()
		waiting.Edit().DeletionTimestamp = 1
		waiting.Edit().Finalizers = []string{object.Foreground}
		c := New(WithEconomy())
		c.waits[owner.Ref] = true
		d = judged(t, c, []*object.Object{dependent}, []*object.Object{waiting, dependent})
		if d.Reason != reason.WaitingOwner || d.Owners[last].Evidence != FoundWaiting {
			t.Errorf("%d owners, the last one known to wait: %s, evidence %d", n, d.Reason, d.Owners[last].Evidence)
		}
	}
}

// Verdict and pruning with any number of owners: all absent, all but the last, all but the first.
func TestVerdictsWithManyOwners(t *testing.T) {
	for _, rules := range []Rules{Upstream, Strict} {
		for _, n := range ownerCounts {
			dependent := ownedBy(n)
			d := judged(t, New(WithRules(rules)), []*object.Object{dependent}, []*object.Object{dependent})
			if d.Reason != reason.NoExistingOwner || len(d.Requests) != 1 || d.Requests[0].Verb != DeleteObject {
				t.Errorf("%s, %d absent owners: %s with %d requests", rules, n, d.Reason, len(d.Requests))
			}
			if n == 1 {
				continue
			}
			for _, solid := range []int{0, n - 1} {
				owner := ownerAt(solid, "n")
				d := judged(t, New(WithRules(rules)), []*object.Object{dependent, owner}, []*object.Object{dependent, owner})
				if d.Reason != reason.DanglingReferences || len(d.Requests) != 1 || len(d.Requests[0].UIDs) != n-1 {
					t.Errorf("%s, owner %d of %d is there: %s with %d requests", rules, solid, n, d.Reason, len(d.Requests))
				}
			}
		}
	}
}

// Equal references are one, at any position.
func TestRepeatedReferencesBeyondTheFirstWord(t *testing.T) {
	dependent := ownedBy(70)
	dependent.Owners = append(dependent.Owners, dependent.Owners[69], dependent.Owners[3])
	d := judged(t, New(WithAbsent(ownerAt(69, "n").Ref, ownerAt(3, "n").Ref)), []*object.Object{dependent}, []*object.Object{dependent})
	for i, o := range d.Owners {
		want := Absent
		if i == 69 || i == 70 || i == 71 || i == 3 {
			want = Remembered
		}
		if o.Evidence != want {
			t.Errorf("owner %d: evidence %d, want %d", i, o.Evidence, want)
		}
	}
}

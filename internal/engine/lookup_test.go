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

// A server reports an owner absent that a watch shows: the answer may be from before the owner was
// restored. Upstream deletes the dependent. Strict rules keep it until the watch shows the deletion
// of the owner, which queues it again. (L23)
func TestAnObservedOwnerIsNotAbsent(t *testing.T) {
	owner := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "owner", UID: "owner"}}
	dependent := &object.Object{
		Ref:    object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "dependent", UID: "dependent"},
		Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "owner"}},
	}
	for rules, want := range map[Rules]reason.Code{Upstream: reason.NoExistingOwner, Strict: reason.AbsenceNotProven} {
		api := apisim.New([]*object.Object{dependent}, coreResources())
		c := New(WithRules(rules))
		c.Observe(object.Event{Type: object.Added, Object: owner})
		c.Observe(object.Event{Type: object.Added, Object: dependent})
		id, _ := c.graph.Find(dependent.UID)
		judge := func() Decision {
			a, ok := c.Next()
			if !ok || a.ID != id {
				t.Fatalf("%s: the dependent is not ready", rules)
			}
			return c.Decide(Lookup(context.Background(), api, rules, a))
		}
		c.toDelete.add(id)
		d := judge()
		if d.Reason != want || rules == Strict && (len(d.Requests) > 0 || d.Disposition != Defer) {
			t.Errorf("%s: %s with %d requests, want %s", rules, d.Reason, len(d.Requests), want)
		}
		if rules == Upstream {
			continue
		}
		c.Settle(Outcome{Decision: d, Disposition: d.Disposition, Err: d.Err})
		c.Observe(object.Event{Type: object.Deleted, Object: owner})
		if d := judge(); d.Reason != reason.NoExistingOwner || len(d.Requests) != 1 {
			t.Errorf("when the owner is gone: %s with %d requests", d.Reason, len(d.Requests))
		}
	}
}

// A cluster-scoped owner that no watch has shown is known only by the reference of a dependent, and
// has its namespace. Upstream looks for the owner's owners there, finds none, and deletes the
// owner, although it drops the attempt once a watch has shown the owner (Q5).
func TestAnUnseenOwnerHasNoNamespaceToLookIn(t *testing.T) {
	node := &object.Object{
		Ref:    object.Ref{APIVersion: "v1", Kind: "Node", Name: "node", UID: "node"},
		Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "home", UID: "home"}},
	}
	home := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "elsewhere", Name: "home", UID: "home"}}
	dependent := &object.Object{
		Ref:    object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "dependent", UID: "dependent"},
		Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "node", UID: "node"}},
	}
	for rules, want := range map[Rules]reason.Code{Upstream: reason.NoExistingOwner, Strict: reason.OwnerRefInvalidNamespace} {
		api := apisim.New([]*object.Object{node, home, dependent}, coreResources())
		c := New(WithRules(rules))
		c.Observe(object.Event{Type: object.Added, Object: dependent})
		a, ok := c.Next()
		if !ok || !a.Virtual || a.Ref.UID != node.UID || a.Ref.Namespace != "n" {
			t.Fatalf("%s: the first attempt is about %s", rules, a.Ref)
		}
		d := c.Decide(Lookup(context.Background(), api, rules, a))
		if d.Reason != want || rules == Strict && len(d.Requests) > 0 {
			t.Errorf("%s: %s with %d requests, want %s", rules, d.Reason, len(d.Requests), want)
		}
	}
}

// An owner waits for its dependents and is held by something else as well. Upstream deletes a
// non-blocking dependent if it is attempted before foregroundDeletion is removed. Strict rules keep
// it, and delete a blocking one. (Q24)
func TestAnOwnerThatOutlivesItsWaiting(t *testing.T) {
	grace := int64(30)
	waits := func(kind string, l object.Lifecycle) *object.Object {
		l.DeletionTimestamp = 1
		l.Finalizers = append(l.Finalizers, object.Foreground)
		return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: kind, Namespace: "n", Name: "owner", UID: "owner"}, Lifecycle: &l}
	}
	plain := waits("ConfigMap", object.Lifecycle{})
	finalizer := waits("ConfigMap", object.Lifecycle{Finalizers: []string{"acme.io/lock"}})
	pod := waits("Pod", object.Lifecycle{GracePeriod: &grace})
	namespace := waits("Namespace", object.Lifecycle{Facts: &object.NamespaceFacts{Finalizers: []string{"kubernetes"}}})
	namespace.Namespace = ""
	for _, c := range []struct {
		owner  *object.Object
		blocks bool
		rules  Rules
		goes   bool
	}{
		{plain, false, Strict, true},
		{finalizer, false, Strict, false}, {finalizer, true, Strict, true}, {finalizer, false, Upstream, true},
		{pod, false, Strict, false}, {pod, true, Strict, true}, {pod, false, Upstream, true},
		{namespace, false, Strict, false}, {namespace, false, Upstream, true},
	} {
		ref := object.OwnerReference{APIVersion: "v1", Kind: c.owner.Kind, Name: "owner", UID: "owner"}
		if c.blocks {
			ref.BlockOwnerDeletion = object.True
		}
		dependent := &object.Object{
			Ref:    object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "dependent", UID: "dependent"},
			Owners: []object.OwnerReference{ref},
		}
		api := apisim.New([]*object.Object{c.owner, dependent}, coreResources())
		collector := New(WithRules(c.rules))
		collector.Observe(object.Event{Type: object.Added, Object: c.owner})
		collector.Observe(object.Event{Type: object.Added, Object: dependent})
		id, _ := collector.graph.Find(dependent.UID)
		d := collector.Decide(Lookup(context.Background(), api, c.rules, collector.about(DeleteWork, id)))
		want := reason.ExistingOwner
		if c.goes {
			want = reason.WaitingOwner
		}
		if d.Reason != want {
			t.Errorf("%s, held by %v, blocked: %t, %s rules: %s", c.owner.Kind, c.owner.Finalizers(), c.blocks, c.rules, d.Reason)
		}
	}
}

package engine

import (
	"context"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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

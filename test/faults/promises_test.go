package faults

import (
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// promises are the faults around orphaning and foreground deletion.
var promises = []row{
	{"L62_orphan_in_mid_cascade", "an owner is deleted with Orphan, and a watch says that it is gone before anybody was released", "released, not collected", orphanTombstone},
	{"L65_latecomer", "a blocking dependent is made while its owner waits", "it goes, and then the owner", latecomer},
	{"L66_second_foreground", "an owner that a finalizer holds is deleted in the foreground a second time", "acted on again", secondForeground},
	{"L67_cycle_of_two", "two objects own each other and are deleted in the foreground", "both go", cycle(2)},
	{"L67_cycle_of_five", "five objects own each other in a ring and are deleted in the foreground", "all go", cycle(5)},
	{"L67_self_owner", "an object owns itself and is deleted in the foreground", "it waits for itself, as upstream (S114)", selfOwner},
	{"L68_ring", "objects own each other in a ring, and nobody deletes one", "they stay", ring},
}

func orphanTombstone(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := []*object.Object{one("Secret", "a", to(home)), one("Secret", "b", to(home)), one("Widget", "c", to(home))}
	c := world(t, append([]*object.Object{home}, kept...)...)
	h := hold()
	c.strike(1, at("patch", "", ""), h.answer)
	c.collect()
	c.fence()
	c.delete(home, "Orphan")
	<-h.came
	c.pretend("DELETED", home)
	close(h.free)
	c.stays(kept...)
}

func latecomer(t *testing.T) {
	home := one("ConfigMap", "home")
	first, second := one("Secret", "first", blocking(home)), one("Secret", "second", blocking(home))
	first.Edit().Finalizers = []string{"example.com/lock"}
	c := world(t, home, first)
	c.collect()
	c.fence()
	c.delete(home, "Foreground")
	c.until("the first is being deleted", func() bool { return c.stored(first).BeingDeleted() })
	c.create(second)
	c.stays(home, first)
	c.edit(first, func(o *object.Object) { o.Edit().Finalizers = nil })
	c.goes(first, second, home)
}

func secondForeground(t *testing.T) {
	home := one("ConfigMap", "home")
	home.Edit().Finalizers = []string{"example.com/lock"}
	c := world(t, home)
	c.collect()
	c.fence()
	for range 2 {
		c.delete(home, "Foreground")
		c.until("it does not wait", func() bool { return !c.stored(home).HasFinalizer(object.Foreground) })
	}
	c.stays(home)
	if !c.stored(home).HasFinalizer("example.com/lock") {
		t.Error("a finalizer that is not the garbage collector's is gone")
	}
}

// of are objects that own each other in a ring.
func of(n int) []*object.Object {
	all := make([]*object.Object, n)
	for i := range all {
		all[i] = one("ConfigMap", string(rune('a'+i)))
	}
	for i := range all {
		all[i].Owners = []object.OwnerReference{blocking(all[(i+1)%n])}
	}
	return all
}

func cycle(n int) func(*testing.T) {
	return func(t *testing.T) {
		all := of(n)
		c := world(t, all...)
		c.collect()
		c.fence()
		c.delete(all[0], "Foreground")
		c.goes(all...)
	}
}

func selfOwner(t *testing.T) {
	all := of(1)
	c := world(t, all...)
	c.collect()
	c.fence()
	c.delete(all[0], "Foreground")
	c.judged(all[0], reason.WaitingForDependents)
	c.stays(all...)
}

func ring(t *testing.T) {
	all := of(3)
	c := world(t, all...)
	f := c.strike(0, at("delete", "configmaps", ""), func(w http.ResponseWriter, r *http.Request, server http.Handler) { server.ServeHTTP(w, r) })
	c.collect()
	c.fence()
	c.disturb("configmaps", expired)
	c.stays(all...)
	if f.struck.Load() > 0 {
		t.Error("there were requests to delete")
	}
}

package faults

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// watched are the faults of watches.
var watched = []row{
	{"L18_gap", "a watch expires, and things were made and deleted in the gap", "the relist shows what is there: nothing is left over", gap},
	{"L24_replayed_deletion", "a watch replays an old event in which the owner was being deleted in the foreground", "the server is asked: kept", replayed},
	{"L25_silent", "a watch says nothing although things happen, and then expires", "late, and not wrong", silent},
	{"L26_bookmark_and_error", "a watch sends a bookmark and then the error 410", "listed again", bookmarked},
	{"L27_tombstone_of_the_living", "a watch says that a living owner was deleted", "the server is asked: kept", tombstone},
	{"L27_all_tombstones", "a watch says that everything of a kind was deleted", "the server is asked: kept", tombstones},
	{"L27_tombstone_then_orphan", "a watch says that a living owner was deleted, and later it is orphaned from", "its dependents are joined to it again: released, not collected", tombstoneThenOrphan},
	{"L27_tombstone_then_foreground", "a watch says that a living owner was deleted, and later it is deleted in the foreground", "its blocking dependent goes first", tombstoneThenForeground},
	{"L24_events_out_of_order", "a watch sends events that are older than what it has sent", "the watch is not believed; all is listed again", disordered},
	{"L80_closed_for_ever", "every watch of a kind is refused", "the kind is a gap for as long; nothing is collected because of it", unwatched},
	{"N12_watch_of_another_kind", "a watch sends an object of another kind", "the watch is not believed", foreign},
	{"L77_bait", "an object has a living owner and one of a kind that cannot be listed", "asked about ever more seldom", bait},
}

func gap(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	c.disturb("configmaps", mute)
	brief := one("ConfigMap", "brief")
	c.create(brief)
	waste := one("Secret", "waste", to(brief))
	c.create(waste)
	c.delete(brief, metav1.DeletePropagationBackground)
	c.disturb("configmaps", expired)
	c.goes(waste)
	c.stays(kept)
}

// replayed shows an owner as it never was, in an event of the present revision.
func replayed(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", blocking(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	frame := compact(map[string]any{"type": "MODIFIED", "object": map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{
			"name": "home", "namespace": "shop", "uid": home.UID, "resourceVersion": c.revision(),
			"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": []string{object.Foreground},
		},
	}})
	c.disturb("configmaps", frames(frame))
	c.judged(kept, reason.ExistingOwner)
	c.stays(home, kept)
}

func silent(t *testing.T) {
	home := one("ConfigMap", "home")
	kept, later := one("Secret", "kept", to(home)), one("Secret", "later", to(home))
	c := world(t, home, kept, later)
	c.collect()
	c.fence()
	c.disturb("configmaps", mute)
	c.disturb("secrets", mute)
	other := one("ConfigMap", "other")
	c.create(other)
	c.edit(kept, func(o *object.Object) { o.Owners = []object.OwnerReference{to(other)} })
	c.delete(home, metav1.DeletePropagationBackground)
	c.stays(kept, later)
	c.disturb("configmaps", expired)
	c.goes(later)
	c.stays(kept)
	c.disturb("secrets", expired)
	c.stays(kept)
}

func bookmarked(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	for range 3 {
		lists := c.strike(0, at("list", "configmaps", ""), func(w http.ResponseWriter, r *http.Request, server http.Handler) { server.ServeHTTP(w, r) })
		bookmark := frames(compact(map[string]any{"type": "BOOKMARK", "object": map[string]any{
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{"resourceVersion": c.revision()},
		}}))
		c.disturb("configmaps", func(w *watching) {
			bookmark(w)
			expired(w)
		})
		c.until("it is listed again", func() bool { return lists.struck.Load() > 0 })
		lists.lift()
	}
	waste := one("Secret", "waste", lost("ConfigMap", "gone"))
	c.create(waste)
	c.goes(waste)
	c.stays(kept)
}

func tombstone(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	c.pretend("DELETED", home)
	c.judged(kept, reason.ExistingOwner)
	c.stays(kept, home)
}

func tombstoneThenOrphan(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	c.pretend("DELETED", home)
	c.judged(kept, reason.ExistingOwner)
	c.fence()
	c.delete(home, metav1.DeletePropagationOrphan)
	c.goes(home)
	c.stays(kept)
	if len(c.stored(kept).Owners) > 0 {
		t.Error("it still refers to its owner")
	}
}

func tombstoneThenForeground(t *testing.T) {
	home := one("ConfigMap", "home")
	waste := one("Secret", "waste", blocking(home))
	c := world(t, home, waste)
	c.collect()
	c.fence()
	c.pretend("DELETED", home)
	c.judged(waste, reason.ExistingOwner)
	c.fence()
	c.delete(home, metav1.DeletePropagationForeground)
	c.goes(waste, home)
}

func tombstones(t *testing.T) {
	var all []*object.Object
	for _, name := range []string{"a", "b", "c"} {
		home := one("ConfigMap", name)
		all = append(all, home, one("Secret", "of-"+name, to(home)))
	}
	c := world(t, all...)
	c.collect()
	c.fence()
	for i := 0; i < len(all); i += 2 {
		c.pretend("DELETED", all[i])
	}
	for i := 1; i < len(all); i += 2 {
		c.judged(all[i], reason.ExistingOwner)
	}
	c.stays(all...)
}

// disordered has a watch show that a dependent has gone, and then that its owner is
// orphaned from.
func disordered(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, one("ConfigMap", "filler"), home, kept)
	c.collect()
	c.fence()
	c.edit(kept, func(o *object.Object) { o.Labels = object.LabelsOf(map[string]string{"new": "er"}) })
	c.fence()
	old := compact(map[string]any{"type": "DELETED", "object": map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{
			"name": "kept", "namespace": "shop", "uid": kept.UID, "resourceVersion": "1",
		},
	}})
	c.disturb("secrets", frames(old))
	c.fence()
	c.delete(home, metav1.DeletePropagationOrphan)
	c.goes(home)
	c.stays(kept)
	if len(c.stored(kept).Owners) > 0 {
		t.Error("it still refers to its owner")
	}
}

func unwatched(t *testing.T) {
	home := one("Widget", "home")
	kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
	c := world(t, home, kept, waste)
	f := c.strike(0, at("watch", "widgets", ""), func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "bad gateway", http.StatusBadGateway)
	})
	c.collect()
	c.state("widgets", kube.Broken)
	c.stays(kept, home)
	f.lift()
	c.goes(waste)
	c.stays(kept)
}

func foreign(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	c.disturb("configmaps", frames(compact(map[string]any{"type": "DELETED", "object": map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
			"name": "home", "namespace": "shop", "uid": home.UID, "resourceVersion": c.revision(),
		},
	}})))
	c.stays(kept, home)
	c.goes(func() *object.Object {
		waste := one("Secret", "waste", lost("ConfigMap", "gone"))
		c.create(waste)
		return waste
	}())
}

// bait is what has kept a collector busy forever: see spec W23.
func bait(t *testing.T) {
	home := one("ConfigMap", "home")
	kept := one("Secret", "kept", to(home), lost("Widget", "gone"))
	c := world(t, home, kept)
	c.strike(0, at("list", "widgets", ""), unserved)
	asked := c.strike(0, at("get", "", ""), func(w http.ResponseWriter, r *http.Request, server http.Handler) { server.ServeHTTP(w, r) })
	c.collect()
	c.state("widgets", kube.Broken)
	for range 10 {
		c.fence()
	}
	if n := asked.struck.Load(); n > 60 {
		t.Errorf("%d reads", n)
	}
	c.stays(kept)
}

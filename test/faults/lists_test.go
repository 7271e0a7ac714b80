package faults

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// lists are the faults of lists.
var lists = []row{
	{"L12_forbidden_list", "LIST of a kind is forbidden", "the kind is a gap: who refers to it is kept, all others are collected", unlisted(refused(apierrors.NewForbidden(served[4].GroupResource(), "", nil)))},
	{"L16_expired_in_the_middle", "LIST answers 410 on its second page, with a token that goes on inconsistently", "begun again; the token is never used", expiredPage},
	{"L17_always_expired", "every second page of a kind answers 410", "the kind is a gap", expiredForEver},
	{"L19_empty_owners", "a relist of the owners' kind is empty once", "not believed: kept", emptyRelist("widgets", emptied)},
	{"L19_empty_dependents", "a relist of the dependents' kind is empty for a while, and their owner is orphaned from", "not believed: released, then the owner goes; none is collected", orphanedWhile(emptied)},
	{"L20_truncated", "LIST of a kind breaks off", "no half of a list is taken: the kind is a gap", unlisted(cut)},
	{"L20_reset", "LIST of a kind ends with a reset connection", "the kind is a gap", unlisted(reset)},
	{"L21_twice_in_a_list", "LIST shows every object twice", "nothing else happens", twice},
	{"L22_back_in_time", "a relist of the dependents' kind shows the past, and their owner is orphaned from", "not believed: released, then the owner goes; none is collected", orphanedWhile(past)},
	{"L22_former_references", "a relist of the dependents' kind shows the objects as they once were, without references, and their owner is orphaned from", "not believed: released, then the owner goes; none is collected", orphanedWhile(former)},
	{"L22_owners_back_in_time", "a relist of the owners' kind shows the past", "not believed: kept", emptyRelist("widgets", past)},
	{"L47_undecodable", "LIST of a kind holds an object that cannot be read", "the kind is a gap", unlisted(remade(func(d *document) {
		for i := range d.Items {
			d.Items[i] = []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":7}}`)
		}
	}))},
	{"L86_list_page", "LIST of a kind answers 200 with a page of HTML", "the kind is a gap", unlisted(text(http.StatusOK, "text/html", "<html>log in</html>"))},
	{"N12_other_list", "LIST of a kind answers a list of another kind", "the kind is a gap", unlisted(remade(func(d *document) { d.Kind = "SecretList" }))},
	{"N11_no_uid", "LIST of a kind shows objects without a uid", "the kind is a gap", unlisted(edited(func(text []byte) []byte {
		return []byte(strings.ReplaceAll(string(text), `"uid":`, `"uld":`))
	}))},
	{"L63_orphaned_from_unseen", "an owner is orphaned from while the kind of a dependent cannot be listed", "the finalizer stays until all dependents are seen; none is collected", unseenOrphans},
	{"L64_blocked_by_unseen", "an owner is deleted in the foreground while the kind of a blocking dependent cannot be listed", "the finalizer stays until the dependent is gone", unseenBlockers},
}

// past is a list of the first moment, in which nothing was there yet.
var past = remade(func(d *document) { d.Metadata["resourceVersion"], d.Items = "1", nil })

// former is a list of a moment in which nothing referred to anything yet.
var former = remade(func(d *document) {
	d.Metadata["resourceVersion"] = "1"
	for i := range d.Items {
		var o document
		if err := json.Unmarshal(d.Items[i], &o); err != nil {
			panic(err)
		}
		o.Metadata["resourceVersion"] = "1"
		delete(o.Metadata, "ownerReferences")
		d.Items[i] = []byte(compact(o))
	}
})

func unlisted(do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("Widget", "home")
		kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
		other := one("Secret", "other", lost("ConfigMap", "gone"))
		c := world(t, home, kept, waste, other)
		f := c.strike(0, at("list", "widgets", ""), do)
		c.collect()
		c.state("widgets", kube.Broken)
		c.goes(other)
		c.judged(waste, reason.OwnerNotCovered)
		c.stays(kept, waste, home)
		f.lift()
		c.goes(waste)
		c.stays(kept, home)
	}
}

// second matches the second page of a list.
func second(a asked) bool {
	return a.verb == "list" && a.target.Resource.Name == "secrets" && a.query.Get("continue") != ""
}

// inconsistent is a 410 that offers to go on in another moment.
func inconsistent(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	err := apierrors.NewResourceExpired("too old")
	err.ErrStatus.ListMeta = metav1.ListMeta{Continue: "inconsistent"}
	facade.Refuse(w, err)
}

// paged is a world whose secrets take several pages.
func paged(t *testing.T) (c *rig, kept, waste *object.Object, wrong *atomic.Int64) {
	t.Helper()
	home := one("ConfigMap", "home")
	kept, waste = one("Secret", "kept", to(home)), one("Secret", "waste", lost("ConfigMap", "gone"))
	c = world(t, home, kept, one("Secret", "lock"), waste)
	c.client = c.connect(kube.Options{ChunkSize: 1})
	wrong = &atomic.Int64{}
	c.strike(0, func(a asked) bool {
		if a.query.Get("continue") == "inconsistent" {
			wrong.Add(1)
		}
		return false
	}, nil)
	return c, kept, waste, wrong
}

func expiredPage(t *testing.T) {
	c, kept, waste, wrong := paged(t)
	f := c.strike(2, second, inconsistent)
	c.collect()
	c.goes(waste)
	c.stays(kept)
	if f.struck.Load() != 2 || wrong.Load() != 0 {
		t.Errorf("%d pages expired, %d went on inconsistently", f.struck.Load(), wrong.Load())
	}
}

func expiredForEver(t *testing.T) {
	c, kept, waste, wrong := paged(t)
	f := c.strike(0, second, inconsistent)
	c.collect()
	c.state("secrets", kube.Broken)
	c.stays(kept, waste)
	f.lift()
	c.goes(waste)
	if wrong.Load() != 0 {
		t.Error("it went on inconsistently")
	}
}

// emptyRelist has a watch expire, and the list behind it lie.
func emptyRelist(resource string, do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("Widget", "home")
		kept := one("Secret", "kept", to(home))
		c := world(t, one("ConfigMap", "filler"), home, kept)
		c.collect()
		c.fence()
		f := c.strike(0, at("list", resource, ""), do)
		c.disturb(resource, expired)
		c.state(resource, kube.Broken)
		c.stays(kept, home)
		f.lift()
		c.state(resource, kube.Synced)
		c.stays(kept, home)
	}
}

func orphanedWhile(do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("ConfigMap", "home")
		kept := one("Secret", "kept", to(home))
		c := world(t, one("ConfigMap", "filler"), home, kept)
		c.collect()
		c.fence()
		f := c.strike(0, at("list", "secrets", ""), do)
		c.disturb("secrets", expired)
		c.until("the list was shown", func() bool { return f.struck.Load() > 0 })
		c.delete(home, metav1.DeletePropagationOrphan)
		c.until("the dependent is released, or its kind is doubted", func() bool {
			return len(c.stored(kept).Owners) == 0 || c.anyKind(kube.Broken)
		})
		c.stays(kept)
		f.lift()
		c.goes(home)
		c.stays(kept)
		if n := len(c.stored(kept).Owners); n > 0 {
			t.Error("it still refers to its owner")
		}
	}
}

func twice(t *testing.T) {
	home := one("ConfigMap", "home")
	kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("ConfigMap", "gone"))
	c := world(t, home, kept, waste)
	c.strike(0, at("list", "", ""), remade(func(d *document) { d.Items = append(d.Items, d.Items...) }))
	c.collect()
	c.goes(waste)
	c.stays(kept) // behind it the answer has come, too
	if n := len(c.about(waste.Ref)); n != 1 {
		t.Errorf("%d requests about one object", n)
	}
}

func unseenOrphans(t *testing.T) {
	home := one("ConfigMap", "home")
	seen, unseen := one("Secret", "seen", to(home)), one("Widget", "unseen", to(home))
	c := world(t, home, seen, unseen)
	f := c.strike(0, at("list", "widgets", ""), refused(apierrors.NewForbidden(served[4].GroupResource(), "", nil)))
	c.collect()
	c.fence()
	c.delete(home, metav1.DeletePropagationOrphan)
	c.until("the one that is seen is released", func() bool { return len(c.stored(seen).Owners) == 0 })
	c.stays(home, seen, unseen)
	f.lift()
	c.goes(home)
	c.stays(seen, unseen)
	if len(c.stored(unseen).Owners) > 0 {
		t.Error("it still refers to its owner")
	}
}

func unseenBlockers(t *testing.T) {
	home := one("ConfigMap", "home")
	seen, unseen := one("Secret", "seen", blocking(home)), one("Widget", "unseen", blocking(home))
	c := world(t, home, seen, unseen)
	f := c.strike(0, at("list", "widgets", ""), refused(apierrors.NewForbidden(served[4].GroupResource(), "", nil)))
	c.collect()
	c.fence()
	c.delete(home, metav1.DeletePropagationForeground)
	c.goes(seen)
	c.stays(home, unseen)
	f.lift()
	c.goes(unseen, home)
}

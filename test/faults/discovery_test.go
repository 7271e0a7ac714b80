package faults

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// discovery are the faults in which a server does not say what it serves.
var discovery = []row{
	{"L08_discovery_fails", "all of discovery answers 503 from the start", "nothing is done; everything as soon as it answers", undiscovered(refused(apierrors.NewServiceUnavailable("down")))},
	{"L09_nothing_served", "discovery says that nothing is served", "nothing is done; everything as soon as it answers", undiscovered(told(facade.Documents(nil)))},
	{"L10_stale_group", "discovery says that a group could not be asked, from the start", "who refers to the group is kept, all others are collected", staleGroup},
	{"L10_group_becomes_stale", "a group that was known becomes stale in discovery", "it stays followed; nobody is collected because of it", becomesStale},
	{"L11_fluttering", "discovery has a group and loses it, in turn", "who refers to living objects of it is kept", fluttering},
	{"L07_other_scope", "the kind of an owner is made again as a cluster-scoped one", "unknown: kept", rescoped},
	{"L05_definition_deleted", "the kind of an owner is not served any more", "unknown: kept", undefined},
	{"L86_discovery_page", "discovery answers 200 with a page of HTML", "nothing is done; everything as soon as it answers", undiscovered(text(http.StatusOK, "text/html", "<html>log in</html>"))},
}

// told answers discovery with these documents.
func told(documents map[string][]byte) answering {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", facade.DiscoveryType)
		_, _ = w.Write(documents[r.URL.Path])
	}
}

// partly is discovery with a group that could not be asked.
var partly = told(facade.Documents(served, "example.com/v1"))

// without is discovery without a group.
var without = told(facade.Documents(append(served[:4:4], served[5:]...)))

func undiscovered(do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("Widget", "home")
		kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
		c := world(t, home, kept, waste)
		f := c.strike(0, at("discover", "", ""), do)
		c.collect()
		c.until("discovery was tried twice", func() bool { return f.struck.Load() > 3 })
		if n := len(c.allWrites()); n > 0 || !c.lives(waste) {
			t.Errorf("%d writes without discovery", n)
		}
		f.lift()
		c.goes(waste)
		c.stays(kept, home)
	}
}

func staleGroup(t *testing.T) {
	home := one("Widget", "home")
	kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
	other := one("Secret", "other", lost("ConfigMap", "gone"))
	c := world(t, home, kept, waste, other)
	f := c.strike(0, at("discover", "", ""), partly)
	c.collect()
	c.goes(other)
	c.judged(waste, reason.OwnerNotCovered)
	c.stays(kept, waste)
	f.lift()
	c.goes(waste)
	c.stays(kept)
}

func becomesStale(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	f := c.strike(0, at("discover", "", ""), partly)
	c.until("discovery was repeated, and taken in", func() bool { return f.struck.Load() > 5 })
	c.delete(home, metav1.DeletePropagationOrphan)
	c.stays(kept, home)
	f.lift()
	c.goes(home)
	c.stays(kept)
}

func fluttering(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	f := c.strike(0, at("discover", "", ""), turns(turns(without)))
	c.collect()
	c.until("discovery was repeated", func() bool { return f.struck.Load() > 20 })
	c.stays(kept)
	f.lift()
	c.state("widgets", kube.Synced)
	c.stays(kept, home)
}

func rescoped(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	other := served[4]
	other.Namespaced = false
	f := c.strike(0, at("discover", "", ""), told(facade.Documents(append(append(served[:4:4], other), served[5:]...))))
	g := c.strike(0, func(a asked) bool { return a.target.Resource.Name == "widgets" && a.target.Name != "" }, unserved)
	c.until("the kind is dropped", func() bool { return c.anyKind(kube.Dropped) })
	c.stays(kept)
	c.edit(kept, func(o *object.Object) { o.Labels = object.LabelsOf(map[string]string{"look": "again"}) })
	c.stays(kept)
	f.lift()
	g.lift()
	c.stays(kept, home)
}

// undefined takes a kind away with everything of it, as the end of a definition does
// for those who ask. Whether its objects still are in storage nobody can tell.
func undefined(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	both := one("Secret", "both", to(home), lost("ConfigMap", "gone"))
	c := world(t, home, kept, both)
	c.collect()
	c.fence()
	f := c.strike(0, at("discover", "", ""), without)
	g := c.strike(0, at("", "widgets", ""), unserved)
	c.state("widgets", kube.Dropped)
	c.edit(kept, func(o *object.Object) { o.Labels = object.LabelsOf(map[string]string{"look": "again"}) })
	c.stays(kept, both)
	f.lift()
	g.lift()
	c.state("widgets", kube.Synced)
	c.stays(kept, both, home)
}

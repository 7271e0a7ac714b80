package faults

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// absence are the faults in which an owner looks absent that is there, or that
// nobody can know of.
var absence = []row{
	{"L01_endpoint_gone", "GET of owners of a kind answers the plain text `404 page not found`", "unknown: kept; collected when the path is served again", doubted(unserved)},
	{"L02_object_absent", "GET of an owner answers a Status 404, and the path is served", "absent: collected", truly},
	{"L03_absent_for_a_moment", "GET of a living owner answers a Status 404 once", "the second look of the proof keeps the dependent", blip},
	{"L04_skewed_servers", "of two servers in turn one does not know the kind of the owner", "kept", doubted(turns(unserved))},
	{"L12_forbidden_get", "GET of owners of a kind is forbidden", "unknown: kept", doubted(refused(apierrors.NewForbidden(served[4].GroupResource(), "", nil)))},
	{"L13_unauthorized", "GET of owners of a kind answers 401", "unknown: kept", doubted(refused(apierrors.NewUnauthorized("no")))},
	{"L23_uid_comes_back", "an owner vanishes, cannot be asked for, and is restored with its uid", "kept: no absence is remembered", restored},
	{"L24_stale_incarnation", "GET and LIST of an owner show a former object of its name, and an older resourceVersion", "the server has gone back in time: kept", formerly},
	{"L31_owner_created", "an object of the owner's name is made with another uid, after the owner was looked for", "collected; the new object stays", namesake},
	{"L33_owner_made_again", "an owner is deleted and made again with another uid", "who refers to the old uid goes, who refers to the new one stays", again},
	{"L48_backend_down", "everything about a kind answers 503", "its dependents are kept, all others are collected", isolated(refused(apierrors.NewServiceUnavailable("no backend")))},
	{"L46_conversion_down", "everything about a kind answers 500: its conversion webhook is down", "its dependents are kept, all others are collected", isolated(refused(apierrors.NewInternalError(http.ErrServerClosed)))},
	{"L49_uid_in_two_kinds", "a uid is served under two kinds, and one of the two objects goes", "who refers to the other one stays", mirrored},
	{"L69_other_namespace", "a reference names an owner that lives in another namespace", "kept", elsewhere},
	{"L70_bad_sibling", "a good and a bad reference share the uid of an owner", "the good dependent stays, and so does the bad one", siblings},
	{"L79_slow", "every answer takes a while", "slower, and nothing else", slow},
	{"L86_login_page", "GET of owners of a kind answers 200 with a page of HTML", "unknown: kept", doubted(text(http.StatusOK, "text/html", "<html>log in</html>"))},
	{"L87_rewritten_code", "a proxy turns the 503 of a kind into a 404", "unknown: kept", doubted(text(http.StatusNotFound, "application/json", `{"message":"upstream unavailable"}`))},
	{"L87_other_404", "GET of owners of a kind answers a Status 404 that is about something else", "unknown: kept", doubted(refused(apierrors.NewNotFound(served[1].GroupResource(), "gone")))},
	{"X19_redirect", "GET of an owner is redirected to another server", "not followed, nothing is sent there: kept", redirected},
	{"N17_wrong_kind", "GET of an owner answers an object of another kind", "unknown: kept", doubted(remade(func(d *document) { d.Kind = "Secret" }))},
	{"N11_wrong_name", "GET of an owner answers an object of another name", "unknown: kept", doubted(remade(func(d *document) { d.Metadata["name"] = "other" }))},
}

// doubted has one owner that lives and looks gone in a watch, and one that is
// gone, while something is wrong with every answer about an owner.
func doubted(do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("Widget", "home")
		kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
		c := world(t, home, kept, waste)
		unknown := refused(apierrors.NewServiceUnavailable("not yet"))
		f := c.strike(0, at("get", "widgets", "home"), do)
		g := c.strike(0, at("get", "widgets", "gone"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			recorder := httptest.NewRecorder()
			do(recorder, r, http.NotFoundHandler())
			if recorder.Code == http.StatusOK && !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/html") {
				unknown(w, r, server) // there is no true answer that could be changed
				return
			}
			do(w, r, http.NotFoundHandler())
		})
		c.collect()
		c.fence()
		c.pretend("DELETED", home)
		c.until("both owners are asked for", func() bool { return f.struck.Load() > 0 && g.struck.Load() > 0 })
		c.stays(kept, waste)
		f.lift()
		g.lift()
		c.goes(waste)
		c.judged(kept, reason.ExistingOwner)
		c.stays(kept, home)
	}
}

// turns answers every other request truly.
func turns(do answering) answering {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if n.Add(1)%2 == 1 {
			do(w, r, server)
			return
		}
		server.ServeHTTP(w, r)
	}
}

func truly(t *testing.T) {
	home := one("Widget", "home")
	kept, half := one("Secret", "kept", to(home)), one("Secret", "half", to(home), lost("Widget", "gone"))
	waste := one("Secret", "waste", lost("Widget", "gone"))
	c := world(t, home, kept, half, waste)
	c.collect()
	c.goes(waste)
	c.stays(kept, half)
	c.until("the reference to nobody goes", func() bool { return len(c.stored(half).Owners) == 1 })
}

func blip(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, one("Widget", "another"), home, kept)
	c.strike(1, at("get", "widgets", "home"), refused(apierrors.NewNotFound(served[4].GroupResource(), "home")))
	c.collect()
	c.fence()
	c.pretend("DELETED", home)
	c.judged(kept, reason.OwnerNotCovered)
	c.judged(kept, reason.ExistingOwner)
	c.stays(kept)
}

func restored(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	c.collect()
	c.fence()
	f := c.strike(0, at("get", "widgets", "home"), refused(apierrors.NewServiceUnavailable("down")))
	c.delete(home, metav1.DeletePropagationBackground)
	c.judged(kept, reason.LookupFailed)
	c.create(one("Widget", "home"))
	f.lift()
	c.judged(kept, reason.ExistingOwner)
	c.stays(kept)
}

// formerly has a replica that shows what was there before the owner.
func formerly(t *testing.T) {
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept, one("ConfigMap", "filler"))
	former := remade(func(d *document) { d.Metadata["uid"], d.Metadata["resourceVersion"] = "uid-former", "1" })
	c.collect()
	c.fence()
	c.edit(home, func(o *object.Object) { o.Labels = object.LabelsOf(map[string]string{"seen": "later"}) })
	c.fence()
	f := c.strike(0, at("get", "widgets", "home"), former)
	g := c.strike(0, at("list", "widgets", ""), remade(func(d *document) { d.Metadata["resourceVersion"], d.Items = "1", nil }))
	c.pretend("DELETED", home)
	c.until("the owner is asked for", func() bool { return f.struck.Load() > 0 })
	c.stays(kept)
	f.lift()
	g.lift()
	c.judged(kept, reason.ExistingOwner)
	c.stays(kept)
}

func namesake(t *testing.T) {
	waste := one("Secret", "waste", lost("Widget", "gone"))
	c := world(t, waste)
	newer := one("Widget", "gone")
	newer.UID = "uid-newer"
	c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.create(newer)
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.goes(waste)
	c.stays(newer)
}

func again(t *testing.T) {
	home := one("Widget", "home")
	old := one("Secret", "old", to(home))
	c := world(t, home, old)
	c.collect()
	c.fence()
	c.delete(home, metav1.DeletePropagationBackground)
	newer := one("Widget", "home")
	newer.UID = "uid-newer"
	fresh := one("Secret", "fresh", to(newer))
	c.create(newer)
	c.create(fresh)
	c.goes(old)
	c.stays(newer, fresh)
}

// isolated breaks one kind altogether, from the start.
func isolated(do answering) func(*testing.T) {
	return func(t *testing.T) {
		home := one("Widget", "home")
		kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
		other := one("Secret", "other", lost("ConfigMap", "gone"))
		c := world(t, home, kept, waste, other)
		f := c.strike(0, at("", "widgets", ""), do)
		c.collect()
		c.goes(other)
		c.judged(waste, reason.OwnerNotCovered, reason.LookupFailed)
		c.stays(kept, waste)
		f.lift()
		c.goes(waste)
		c.stays(kept)
	}
}

func mirrored(t *testing.T) {
	original, image := one("Widget", "mirror"), one("ConfigMap", "mirror")
	image.UID = original.UID
	kept := one("Secret", "kept", to(original))
	c := world(t, original, image, kept)
	c.collect()
	c.fence()
	c.delete(image, metav1.DeletePropagationBackground)
	c.fence()
	c.stays(kept, original)
}

func elsewhere(t *testing.T) {
	other := one("Namespace", "other")
	other.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	home := one("ConfigMap", "home")
	home.Namespace = "other"
	kept := one("Secret", "kept", to(home))
	c := world(t, other, home, kept)
	c.collect()
	c.judged(kept, reason.AbsenceNotProven)
	c.stays(kept)
}

func siblings(t *testing.T) {
	home := one("Widget", "home")
	wrong := to(home)
	wrong.APIVersion, wrong.Kind = "v1", "ConfigMap"
	good, bad := one("Secret", "good", to(home)), one("Secret", "bad", wrong)
	c := world(t, bad, good, home)
	c.collect()
	c.judged(bad, reason.AbsenceNotProven)
	c.stays(good, bad)
	c.pretend("DELETED", home)
	c.judged(good, reason.ExistingOwner)
	c.stays(good)
}

func slow(t *testing.T) {
	home := one("Widget", "home")
	kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("Widget", "gone"))
	c := world(t, home, kept, waste)
	c.strike(0, func(asked) bool { return true }, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.goes(waste)
	c.stays(kept)
}

// redirected sends a reader elsewhere, where credentials would be collected.
func redirected(t *testing.T) {
	var asked atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.NotFound(w, r)
	}))
	t.Cleanup(thief.Close)
	home := one("Widget", "home")
	kept := one("Secret", "kept", to(home))
	c := world(t, home, kept)
	f := c.strike(0, at("get", "widgets", "home"), func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusFound)
	})
	g := c.strike(0, at("discover", "", ""), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if f.struck.Load() > 0 {
			http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusFound)
			return
		}
		server.ServeHTTP(w, r)
	})
	c.collect(func(o *kube.CollectorOptions) { o.Run.Workers = 1 })
	c.fence()
	c.pretend("DELETED", home)
	c.judged(kept, reason.LookupFailed)
	c.until("discovery fails", func() bool { return c.anyKind(kube.Undiscovered) })
	c.stays(kept)
	f.lift()
	g.lift()
	c.judged(kept, reason.ExistingOwner)
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

package past_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestTraceOfNonsense: an impossible history neither panics nor hangs, and its account is
// consistent.
func TestTraceOfNonsense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild)
		p := &past.Record{Resources: scenario.Resources()}
		p.From.Time = rapid.SampledFrom([]int64{0, scenario.Start, scenario.Start + 100}).Draw(t, "from")
		if rapid.Bool().Draw(t, "no resources") {
			p.Resources = &object.Resources{}
		}
		one := func(label string) *object.Object {
			o := rapid.SampledFrom(w.Objects).Draw(t, label).Clone()
			switch rapid.IntRange(0, 6).Draw(t, "spoiled") {
			case 0:
				o.Edit().DeletionTimestamp = scenario.Start
			case 1:
				o.Kind = "Strange"
			case 2:
				o.UID = rapid.SampledFrom([]types.UID{"", "u0", "u1"}).Draw(t, "uid")
			case 3:
				o.Edit().Finalizers = []string{object.Orphan, object.Foreground}
			case 4:
				o.Owners = nil
			}
			return o
		}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			c := past.Change{Revision: uint64(rapid.IntRange(0, 5).Draw(t, "revision")), Type: object.EventType(rapid.IntRange(0, 3).Draw(t, "type"))}
			if rapid.IntRange(0, 9).Draw(t, "object") > 0 {
				c.Object = one("object")
			}
			if rapid.Bool().Draw(t, "old") {
				c.Old = one("old")
			}
			p.Changes = append(p.Changes, c)
		}
		for range rapid.IntRange(0, 5).Draw(t, "standing") {
			p.Unchanged = append(p.Unchanged, one("standing"))
			p.Absent = append(p.Absent, one("absent").Ref)
			p.Limits = append(p.Limits, past.Limit{Resource: object.Pod.Resource()})
		}
		if text := sound(past.Trace(p)); text != "" {
			t.Fatal(text)
		}
	})
}

// TestTraceAfterAnUpdate: a controller may delete after a recent change of its spec, but not after
// an old one.
func TestTraceAfterAnUpdate(t *testing.T) {
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	ns.UID = "shop"
	set := &object.Object{Ref: object.ReplicaSet.Ref("shop", "web"), Generation: 1}
	set.UID = "web"
	pod := &object.Object{Ref: object.Pod.Ref("shop", "web-a"), Owners: []object.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: object.True},
	}}
	pod.UID = "pod"
	scaled := set.Clone()
	scaled.Generation = 2
	more := scaled.Clone()
	more.Generation = 3
	next := pod.Clone()
	next.Name, next.UID = "web-b", "next"
	for _, x := range []struct {
		name  string
		ticks []past.Moment
		want  string
		then  []past.Change
	}{
		{"no clock", nil, "- Pod/web-a ControllerChanged(ReplicaSet/web) or Requested or Evicted\n", nil},
		{"at once", []past.Moment{{Revision: 10, Time: 1000}, {Revision: 12, Time: 1010}}, "- Pod/web-a ControllerChanged(ReplicaSet/web) or Requested or Evicted\n", nil},
		{"replaced at once", nil, "- Pod/web-a ControllerChanged(ReplicaSet/web) or Requested or Evicted\n", []past.Change{{Revision: 13, Type: object.Added, Object: next}}},
		{"replaced", []past.Moment{{Revision: 10, Time: 1000}, {Revision: 12, Time: 1010}}, "1 Background Pod/web-a took=1 maybe\n- Pod/web-a Controller(ReplicaSet/web) of 1 or Requested of 1 or Evicted\n", []past.Change{{Revision: 13, Type: object.Added, Object: next}}},
		{"told to make more", []past.Moment{{Revision: 10, Time: 1000}, {Revision: 12, Time: 1010}}, "- Pod/web-a ControllerChanged(ReplicaSet/web) or Requested or Evicted\n", []past.Change{
			{Revision: 13, Type: object.Modified, Object: more, Old: scaled}, {Revision: 14, Type: object.Added, Object: next},
		}},
		{"later", []past.Moment{{Revision: 10, Time: 1000}, {Revision: 12, Time: 1100}}, "1 Background Pod/web-a took=1 maybe\n- Pod/web-a Controller(ReplicaSet/web) of 1 or Requested of 1 or Evicted\n", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &past.Record{
				Resources: scenario.Resources(), Clock: past.NewClock(x.ticks), Unchanged: []*object.Object{ns},
				Changes: append([]past.Change{
					{Revision: 11, Type: object.Modified, Object: scaled, Old: set},
					{Revision: 12, Type: object.Deleted, Object: pod},
				}, x.then...),
			}
			if got := tell(past.Trace(p)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// TestTraceOfWhatWasNotSeen: if the first change of an object shows it being deleted, its earlier
// state is unknown. The clock shows that the deletion did not begin before.
func TestTraceOfWhatWasNotSeen(t *testing.T) {
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	ns.UID = "shop"
	ns.Edit().DeletionTimestamp = 1020
	secret := &object.Object{Ref: object.Secret.Ref("shop", "key")}
	secret.UID = "key"
	p := &past.Record{
		From: past.Moment{Revision: 10, Time: 1000}, Resources: scenario.Resources(),
		Clock: past.NewClock([]past.Moment{{Revision: 10, Time: 1000}, {Revision: 11, Time: 1010}}),
		Changes: []past.Change{
			{Revision: 12, Type: object.Modified, Object: ns},
			{Revision: 13, Type: object.Deleted, Object: secret},
		},
	}
	const want = "1 Background Namespace/shop took=2 maybe\n" +
		"- Namespace/shop Requested of 1 or Unseen, is being deleted\n- Secret/key NamespaceDeleted(Namespace/shop) of 1\n"
	if got := tell(past.Trace(p)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTraceOfADefinitionThatGoes: while a CRD is being deleted, its kind is served with fewer
// verbs.
func TestTraceOfADefinitionThatGoes(t *testing.T) {
	served := &object.Resources{}
	served.Add(object.Resource{Group: "example.com", Version: "v1", Name: "widgets", Kind: "Widget", Namespaced: true, Verbs: object.AllVerbs &^ object.PatchVerb, Custom: true})
	definition := &object.Object{Ref: object.CRD.Ref("", "widgets.example.com")}
	definition.UID = "crd"
	going := definition.Clone()
	going.Edit().DeletionTimestamp = 1
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	widget := &object.Object{Ref: object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w", UID: "w"}}
	gone := past.Change{Revision: 3, Type: object.Deleted, Object: widget}
	for name, x := range map[string]struct {
		past past.Record
		want string
	}{
		"in history": {past.Record{Unchanged: []*object.Object{ns}, Changes: []past.Change{{Revision: 2, Type: object.Modified, Object: going, Old: definition}, gone}},
			"1 Background CustomResourceDefinition/widgets.example.com took=2 maybe\n" +
				"- CustomResourceDefinition/widgets.example.com Requested of 1 or KindUnknown(CustomResourceDefinition), is being deleted\n" +
				"- Widget/w DefinitionDeleted(CustomResourceDefinition/widgets.example.com) of 1\n"},
		"before": {past.Record{Unchanged: []*object.Object{ns, going}, Changes: []past.Change{gone}},
			"- Widget/w DefinitionDeleted(CustomResourceDefinition/widgets.example.com) or Requested\n"},
		"not seen": {past.Record{Unchanged: []*object.Object{ns}, Changes: []past.Change{gone}},
			"1 Background Widget/w took=1 maybe\n- Widget/w Requested of 1 or DefinitionUnknown(CustomResourceDefinition/widgets.example.com)\n"},
		"none": {past.Record{Unchanged: []*object.Object{ns}, Absent: []object.Ref{definition.WithoutUID()}, Changes: []past.Change{gone}},
			"1 Background Widget/w took=1\n- Widget/w Requested of 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			x.past.Resources = served
			if got := tell(past.Trace(&x.past)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// TestTraceSeenLate: the deletion of an object that is first seen being deleted began before the
// history, if its time says so.
func TestTraceSeenLate(t *testing.T) {
	o := &object.Object{Ref: object.ConfigMap.Ref("shop", "a")}
	o.UID = "a"
	o.Edit().DeletionTimestamp = 1000
	for began, want := range map[int64]string{
		0: "- ConfigMap/a Unseen or Before or Requested, is being deleted\n", 999: "- ConfigMap/a Unseen or Before or Requested, is being deleted\n",
		1001: "- ConfigMap/a Before, is being deleted\n",
	} {
		t.Run(fmt.Sprint(began), func(t *testing.T) {
			p := &past.Record{Resources: scenario.Resources(), Changes: []past.Change{{Revision: 2, Type: object.Modified, Object: o}}}
			p.From.Time = began
			if got := tell(past.Trace(p)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestTraceOfWhatNoControllerMakes: scaling a ReplicaSet is no reason to delete an object that is
// not a pod.
func TestTraceOfWhatNoControllerMakes(t *testing.T) {
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	set := &object.Object{Ref: object.ReplicaSet.Ref("shop", "web"), Generation: 1}
	set.UID = "web"
	scaled := set.Clone()
	scaled.Generation = 2
	note := &object.Object{Ref: object.ConfigMap.Ref("shop", "note"), Owners: []object.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: object.True},
	}}
	note.UID = "note"
	p := &past.Record{Resources: scenario.Resources(), Unchanged: []*object.Object{ns}, Changes: []past.Change{
		{Revision: 11, Type: object.Modified, Object: scaled, Old: set}, {Revision: 12, Type: object.Deleted, Object: note},
	}}
	const want = "1 Background ConfigMap/note took=1 maybe\n- ConfigMap/note Controller(ReplicaSet/web) of 1 or Requested of 1\n"
	if got := tell(past.Trace(p)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTraceBeforeTheNamespaceController: for five seconds the namespace controller ignores a
// namespace that is being deleted. An object that is deleted earlier was deleted by a client. The
// clocks may differ by two seconds.
func TestTraceBeforeTheNamespaceController(t *testing.T) {
	there := &object.Object{Ref: object.Namespace.Ref("", "shop"), Created: 500}
	there.UID = "shop"
	going := there.Clone()
	going.Edit().DeletionTimestamp = 1000
	note := &object.Object{Ref: object.ConfigMap.Ref("shop", "note")}
	note.UID = "note"
	made := &object.Object{Ref: object.ClusterRole.Ref("", "made"), ResourceVersion: "3"}
	made.UID = "made"
	found := made.Clone()
	found.ResourceVersion, found.Created = "2", 1001
	const (
		somebody = "1 Background Namespace/shop took=1\n2 Background ConfigMap/note took=1\n- Namespace/shop Requested of 1, is being deleted\n- ConfigMap/note Requested of 2\n"
		maybe    = "1 Background Namespace/shop took=1\n2 Background ConfigMap/note took=1 maybe\n- Namespace/shop Requested of 1, is being deleted\n- ConfigMap/note Requested of 2 or NamespaceDeleted(Namespace/shop) of 1\n"
		with     = "1 Background Namespace/shop took=2\n- Namespace/shop Requested of 1, is being deleted\n- ConfigMap/note NamespaceDeleted(Namespace/shop) of 1\n"
	)
	for _, x := range []struct {
		made, created int64
		want          string
	}{{1001, 500, somebody}, {1002, 500, maybe}, {1003, 500, maybe}, {1004, 500, with}, {1001, 994, with}} {
		t.Run(fmt.Sprint(x.made, x.created), func(t *testing.T) {
			there.Created, going.Created, made.Created = x.created, x.created, x.made
			p := &past.Record{Resources: scenario.Resources(), Changes: []past.Change{
				{Revision: 1, Type: object.Modified, Object: going, Old: there},
				{Revision: 2, Type: object.Deleted, Object: note},
				{Revision: 3, Type: object.Added, Object: made},
			}}
			if got := tell(past.Trace(p)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
	t.Run("found later", func(t *testing.T) {
		there.Created, going.Created = 500, 500
		p := &past.Record{Resources: scenario.Resources(), Changes: []past.Change{
			{Revision: 1, Type: object.Modified, Object: going, Old: there},
			{Revision: 2, Type: object.Deleted, Object: note},
			{Revision: 3, Type: object.Added, Object: found},
		}}
		if got := tell(past.Trace(p)); got != with {
			t.Errorf("got %s, want %s", got, with)
		}
	})
}

// TestTraceBetween: if only a range of revisions is known for a deletion, a cause is certain only
// if it holds in the whole range.
func TestTraceBetween(t *testing.T) {
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	ns.UID = "shop"
	going := ns.Clone()
	going.Edit().DeletionTimestamp = 1000
	owner := &object.Object{Ref: object.ConfigMap.Ref("shop", "owner")}
	owner.UID = "owner"
	leaf := &object.Object{Ref: object.ConfigMap.Ref("shop", "leaf"), Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "owner"}}}
	leaf.UID = "leaf"
	asked := past.Change{Revision: 12, Type: object.Modified, Object: going, Old: ns}
	gone := func(o *object.Object, after, revision uint64) past.Change {
		return past.Change{After: after, Revision: revision, Type: object.Deleted, Object: o, Old: o}
	}
	for name, x := range map[string]struct {
		changes []past.Change
		want    string
	}{
		"behind the delete of its namespace": {
			[]past.Change{asked, gone(owner, 12, 30)},
			"1 Background Namespace/shop took=2\n- Namespace/shop Requested of 1, is being deleted\n- ConfigMap/owner NamespaceDeleted(Namespace/shop) of 1, went later\n",
		},
		"maybe before that": {
			[]past.Change{asked, gone(owner, 10, 30)},
			"1 Background Namespace/shop took=2\n- ConfigMap/owner NamespaceDeleted(Namespace/shop) of 1 or Requested, went later\n- Namespace/shop Requested of 1, is being deleted\n",
		},
		"its owner is gone for certain": {
			[]past.Change{gone(owner, 10, 20), gone(leaf, 20, 30)},
			"1 Background ConfigMap/owner took=2\n- ConfigMap/owner Requested of 1, went later\n- ConfigMap/leaf OwnerGone(ConfigMap/owner) of 1, went later\n",
		},
		"its owner may have gone first, and is told of later": {
			[]past.Change{gone(leaf, 10, 20), gone(owner, 12, 30)},
			"1 Background ConfigMap/owner took=1\n- ConfigMap/leaf OwnerGone(ConfigMap/owner) or Requested, went later\n- ConfigMap/owner Requested of 1, went later\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &past.Record{Resources: scenario.Resources(), Unchanged: []*object.Object{ns, owner, leaf}, Changes: x.changes}
			p.Unchanged = slices.DeleteFunc(p.Unchanged, func(o *object.Object) bool {
				return slices.ContainsFunc(x.changes, func(c past.Change) bool { return c.Object.UID == o.UID })
			})
			a := past.Trace(p)
			if got := tell(a); got != x.want {
				t.Errorf("got\n%s, want\n%s", got, x.want)
			}
			for _, l := range a.Losses {
				if a.RequestRevision(&l) > l.Began || l.Began > l.Gone && l.Gone != 0 {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// TestTraceAcrossNamespaces: the cause is an owner reference to another namespace, not a missing
// owner.
func TestTraceAcrossNamespaces(t *testing.T) {
	owner := &object.Object{Ref: object.Secret.Ref("elastic", "quickstart")}
	owner.UID = "owner"
	copied := &object.Object{Ref: object.Secret.Ref("app", "user"), Created: 1000, Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "quickstart", UID: "owner"}}}
	copied.UID = "copied"
	for name, x := range map[string]struct {
		standing []*object.Object
		want     string
	}{
		"it was seen there": {[]*object.Object{owner}, "- Secret/user OwnerNamespaceMismatch(Secret/quickstart)\n"},
		"it was not seen":   {nil, "- Secret/user OwnerGone(Secret/quickstart)\n"},
	} {
		p := &past.Record{
			Resources: scenario.Resources(), ForeignOwners: x.standing, Absent: []object.Ref{object.Secret.Ref("app", "quickstart"), object.Secret.Ref("app", "user")},
			Changes: []past.Change{
				{Revision: 11, Type: object.Added, Object: copied}, {Revision: 12, Type: object.Deleted, Object: copied, Old: copied},
			},
		}
		a := past.Trace(p)
		if got := tell(a); got != x.want {
			t.Errorf("%s: got\n%s, want\n%s", name, got, x.want)
		}
		if by := a.Losses[0].Cause.By; len(x.standing) > 0 && by.Namespace != "elastic" {
			t.Errorf("by %+v", by)
		}
	}
}

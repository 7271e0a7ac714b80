package past

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// restorables returns an account of a deleted namespace, a deleted CRD, and deletes by other
// controllers.
func restorables() *Account {
	at := func(ref object.Ref) *object.Object {
		ref.UID = types.UID("u-" + ref.Kind + "-" + ref.Name)
		return &object.Object{Ref: ref}
	}
	caused := func(o *object.Object, code reason.Code, by object.Ref, request int) Loss {
		return Loss{Object: o, Began: 100, Gone: 100, Cause: Cause{Code: code, By: by, Request: request}}
	}
	ns, web, set := at(object.Namespace.Ref("", "shop")), at(object.Deployment.Ref("shop", "web")), at(object.ReplicaSet.Ref("shop", "web-1"))
	crd := at(object.CRD.Ref("", "lamps.example.com"))
	crd.Edit().Facts = &object.CRDFacts{Group: "example.com", Kind: "Lamp", Plural: "lamps", Namespaced: true, Versions: []object.CRDVersion{{Name: "v1"}, {Name: "v2", Served: true}}}
	lamp := at(object.Ref{APIVersion: "example.com/v2", Kind: "Lamp", Namespace: "park", Name: "l"})
	below := at(object.ConfigMap.Ref("park", "below"))
	below.Owners = []object.OwnerReference{{APIVersion: "example.com/v2", Kind: "Lamp", Name: "l", UID: lamp.UID}}
	perhaps := caused(at(object.Pod.Ref("shop", "perhaps")), reason.Evicted, object.Ref{}, -1)
	perhaps.Or = []Cause{{Code: reason.Requested, Request: -1}}
	return &Account{
		Past: &Record{From: Moment{Revision: 50, Time: 1000}, To: Moment{Revision: 200, Time: 1100}, Resources: &object.Resources{}},
		Losses: []Loss{
			0: caused(ns, reason.Requested, object.Ref{}, 0),
			1: caused(web, reason.NamespaceDeleted, ns.Ref, 0),
			2: caused(set, reason.OwnerGone, web.Ref, 0),
			3: caused(at(object.Pod.Ref("shop", "evicted")), reason.Evicted, object.Ref{}, -1),
			4: perhaps,
			5: caused(crd, reason.Requested, object.Ref{}, 1),
			6: caused(lamp, reason.DefinitionDeleted, crd.Ref, 1),
			7: caused(below, reason.OwnerGone, lamp.Ref, 1),
			8: caused(at(object.Pod.Ref("shop", "replaced")), reason.ControllerChanged, object.Ref{}, -1),
			9: caused(at(object.Secret.Ref("park", "collected")), reason.OwnerReplaced, lamp.Ref, -1),
		},
		Requests: []Request{
			{Losses: []int{0}, At: Moment{Revision: 100}, Explains: 3}, {Losses: []int{5}, At: Moment{Revision: 90}, Explains: 3},
		},
	}
}

// TestRestorable: the losses of the question come back with what was deleted with them, and with
// the namespace and the CRD that they need. What another controller deleted comes back only if it
// is named.
func TestRestorable(t *testing.T) {
	for name, test := range map[string]struct {
		q    LostQuestion
		want []int
	}{
		"all":                        {LostQuestion{}, []int{0, 1, 2, 4, 5, 6, 7, 9}},
		"a namespace":                {LostQuestion{Namespace: "shop"}, []int{0, 1, 2, 4}},
		"what is in one without CRD": {LostQuestion{Namespace: "park"}, []int{5, 6, 7, 9}},
		"an object":                  {LostQuestion{Objects: []object.Ref{object.Deployment.Ref("shop", "web")}}, []int{0, 1, 2}},
		"one that was evicted":       {LostQuestion{Objects: []object.Ref{object.Pod.Ref("shop", "evicted")}}, []int{0, 3}},
		"a CRD":                      {LostQuestion{Objects: []object.Ref{object.CRD.Ref("", "lamps.example.com")}}, []int{5, 6, 7, 9}},
		"nothing":                    {LostQuestion{Namespace: "elsewhere"}, nil},
	} {
		if got := Restorable(restorables(), test.q); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestOneOfRequest: a question about one of several objects of a request is not about the others,
// nor about what was deleted with them.
func TestOneOfRequest(t *testing.T) {
	loss := func(ref, by object.Ref) Loss {
		ref.UID = types.UID("u-" + ref.Name)
		if by.Name != "" {
			by.UID = types.UID("u-" + by.Name)
			return Loss{Object: &object.Object{Ref: ref}, Began: 100, Gone: 100, Cause: Cause{Code: reason.OwnerGone, By: by}}
		}
		return Loss{Object: &object.Object{Ref: ref}, Began: 100, Gone: 100, Cause: Cause{Code: reason.Requested}}
	}
	cm := func(name string) object.Ref { return object.ConfigMap.Ref("shop", name) }
	a := &Account{
		Past: &Record{Resources: &object.Resources{}, From: Moment{Revision: 50}, To: Moment{Revision: 200}},
		Losses: []Loss{
			loss(cm("a"), object.Ref{}), loss(cm("b"), object.Ref{}), loss(cm("of-a"), cm("a")), loss(cm("of-b"), cm("b")), loss(cm("of-of-b"), cm("of-b")),
		},
		Requests: []Request{{Losses: []int{0, 1}, At: Moment{Revision: 100}, Explains: 5}},
	}
	q := LostQuestion{Objects: []object.Ref{cm("b")}}
	if got := Restorable(a, q); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("%v", got)
	}
	d := LostDocument(a, q)
	if r := d.Requests; len(r) != 1 || len(r[0].Objects) != 1 || r[0].Objects[0].Name != "b" || r[0].Took != 3 || len(d.Losses) != 3 {
		t.Errorf("%+v of %d losses", d.Requests, len(d.Losses))
	}
	if r := LostDocument(a, LostQuestion{}).Requests; len(r) != 1 || len(r[0].Objects) != 2 || r[0].Took != 5 {
		t.Errorf("of all: %+v", r)
	}
}

// TestDefinitions: a CRD that is not served comes first, and its former objects are read in a
// version that it served. Those of a CRD that is back are read at once.
func TestDefinitions(t *testing.T) {
	a := restorables()
	gone, back, others := SplitCRDs(a, []int{0, 5, 7})
	if !slices.Equal(gone, []int{5}) || back != nil || !slices.Equal(others, []int{0, 7}) {
		t.Errorf("%v %v %v", gone, back, others)
	}
	want := Collection{APIVersion: "example.com/v2", Kind: "Lamp", Namespace: "park", Revision: 89}
	if got := Instances(a, gone, LostQuestion{Namespace: "park"}); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	if got := WithDependents(a, nil, map[types.UID]bool{"u-Lamp-l": true}, ""); !slices.Equal(got, []int{7}) {
		t.Errorf("below the instances: %v", got)
	}
	later := LaterUndo(a, gone, LostQuestion{Namespace: "park"})
	if later.Then.Command != "kubectl gc undo --since-revision=50 -n park" || later.Remembered != "1970-01-01T00:23:20Z" || len(later.CRDs) != 1 {
		t.Errorf("%+v", later)
	}
	if got := LaterUndo(a, gone, LostQuestion{Objects: []object.Ref{a.Losses[5].Object.Ref}}).Then.Command; got != "kubectl gc undo --since-revision=50 crd/lamps.example.com" {
		t.Error(got)
	}
	a.Past.Resources.Add(object.Resource{Group: "example.com", Version: "v2", Kind: "Lamp", Name: "lamps", Verbs: object.AllVerbs})
	if gone, back, _ := SplitCRDs(a, []int{0, 5, 7}); gone != nil || !slices.Equal(back, []int{5}) {
		t.Errorf("once it is served: %v %v", gone, back)
	}
}

// lamps is the CRD of lamps with some versions. The last one is the storage version.
func lamps(uid string, namespaced bool, versions ...string) *object.Object {
	o := &object.Object{Ref: object.CRD.Ref("", "lamps.example.com")}
	o.UID = types.UID(uid)
	crd := &object.CRDFacts{Group: "example.com", Kind: "Lamp", Plural: "lamps", Namespaced: namespaced}
	for i, v := range versions {
		crd.Versions = append(crd.Versions, object.CRDVersion{Name: v, Served: true, Storage: i == len(versions)-1})
	}
	o.Edit().Facts = crd
	return o
}

// lives returns an account of CRDs of one name that were created and deleted one after the other.
// The last one is deleted only if gone is set.
func lives(gone bool, crds ...*object.Object) *Account {
	record := &Record{From: Moment{Revision: 10}, To: Moment{Revision: 1000}, Resources: &object.Resources{}}
	a := &Account{Past: record}
	for i, o := range crds {
		revision := uint64(100 * (i + 1))
		record.Changes = append(record.Changes, Change{Revision: revision, Type: object.Added, Object: o})
		if i < len(crds)-1 || gone {
			record.Changes = append(record.Changes, Change{Revision: revision + 50, Type: object.Deleted, Object: o, Old: o})
			a.Losses = append(a.Losses, Loss{Object: o, Began: revision + 50, Gone: revision + 50, Cause: Cause{Code: reason.Requested, Request: i}})
			a.Requests = append(a.Requests, Request{Losses: []int{i}, At: Moment{Revision: revision + 50}, Explains: 1})
			continue
		}
		crd := o.Definition()
		for _, v := range crd.Versions {
			record.Resources.Add(object.Resource{Group: crd.Group, Version: v.Name, Kind: crd.Kind, Name: crd.Plural, Namespaced: crd.Namespaced, Verbs: object.AllVerbs, Custom: true})
		}
	}
	return a
}

// TestDefinitionMadeAgain: a CRD that exists again is not gone. Its former objects are read in a
// version that is served now, unless they were stored in another version or elsewhere. If it is
// gone, only the last one comes back, with the objects of all of them.
func TestDefinitionMadeAgain(t *testing.T) {
	first, gadgets := lamps("1", true, "v1"), lamps("2", true, "v1")
	gadgets.Definition().Kind = "Gadget"
	for name, test := range map[string]struct {
		gone  bool
		crds  []*object.Object
		gaps  []string
		first []int
		read  []string
	}{
		"the same":          {crds: []*object.Object{first, lamps("2", true, "v1")}, read: []string{"v1 149"}},
		"with one more":     {crds: []*object.Object{first, lamps("2", true, "v1", "v2")}, read: []string{"v1 149"}},
		"with another one":  {crds: []*object.Object{first, lamps("2", true, "v2")}, gaps: []string{"example.com/v1 CRDVersionGone"}},
		"with a later one":  {crds: []*object.Object{lamps("1", true, "v1", "v2"), lamps("2", true, "v2")}, read: []string{"v2 149"}},
		"with the scope":    {crds: []*object.Object{first, lamps("2", false, "v1")}, gaps: []string{"example.com/v1 CRDScopeChanged"}},
		"with the kind":     {crds: []*object.Object{first, gadgets}, gaps: []string{"example.com/v1 CRDKindChanged"}},
		"and again":         {crds: []*object.Object{first, lamps("2", true, "v1"), lamps("3", true, "v1")}, read: []string{"v1 249", "v1 149"}},
		"and is gone again": {gone: true, crds: []*object.Object{first, lamps("2", true, "v1")}, gaps: []string{"example.com/v1 CRDGone"}, first: []int{1}, read: []string{"v1 249", "v1 149"}},
		"gone as another":   {gone: true, crds: []*object.Object{first, lamps("2", true, "v2")}, gaps: []string{"example.com/v2 CRDGone"}, first: []int{1}, read: []string{"v2 249"}},
	} {
		a := lives(test.gone, test.crds...)
		var gaps, read []string
		for _, g := range LostDocument(a, LostQuestion{Source: report.Source{Type: "cluster"}}).Gaps {
			gaps = append(gaps, g.APIVersion+" "+g.Why)
		}
		all := Restorable(a, LostQuestion{})
		gone, back, _ := SplitCRDs(a, all)
		for _, of := range Instances(a, append(back, gone...), LostQuestion{}) {
			read = append(read, of.APIVersion[len("example.com/"):]+" "+string(rune('0'+of.Revision/100))+"49")
		}
		if diff := cmp.Diff(test.gaps, gaps) + cmp.Diff(test.read, read); diff != "" || !slices.Equal(gone, test.first) {
			t.Errorf("%s: %v come first; (-want +got):\n%s", name, gone, diff)
		}
	}
}

// TestInstancesOfNamed: all instances come with a CRD that is named, and not with a named instance.
func TestInstancesOfNamed(t *testing.T) {
	a := lives(false, lamps("1", true, "v1"), lamps("2", true, "v1"))
	lamp := object.Ref{APIVersion: "example.com/v1", Kind: "Lamp", Namespace: "park", Name: "l"}
	a.Losses = append(a.Losses, Loss{Object: &object.Object{Ref: lamp}, Began: 151, Gone: 151, Cause: Cause{Code: reason.DefinitionDeleted, By: a.Losses[0].Object.Ref}})
	for ref, want := range map[object.Ref]int{lamp: 0, object.CRD.Ref("", "lamps.example.com"): 1} {
		q := LostQuestion{Objects: []object.Ref{ref}}
		_, back, _ := SplitCRDs(a, Restorable(a, q))
		if got := Instances(a, back, q); len(got) != want || len(back) != 1 {
			t.Errorf("%s: %v of %v", ref, got, back)
		}
	}
}

// TestRestorableOfUnseen: the dependents of instances that are not shown come back with the CRD,
// unless it is named.
func TestRestorableOfUnseen(t *testing.T) {
	a := lives(true, lamps("1", true, "v1"))
	lamp := object.Ref{APIVersion: "example.com/v1", Kind: "Lamp", Namespace: "park", Name: "l"}
	below := object.ConfigMap.Ref("park", "below")
	a.Losses = append(a.Losses, Loss{Object: &object.Object{Ref: below}, Began: 151, Gone: 151, Cause: Cause{Code: reason.OwnerGone, By: lamp}})
	if got := Restorable(a, LostQuestion{Namespace: "park"}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v", got)
	}
	if got := Restorable(a, LostQuestion{Objects: []object.Ref{below}}); !slices.Equal(got, []int{1}) {
		t.Errorf("of one that is named: %v", got)
	}
}

// TestBelow: dependents of the instances in a namespace are limited to that namespace.
func TestBelow(t *testing.T) {
	a := restorables()
	owners := map[types.UID]bool{"u-Lamp-l": true}
	for namespace, want := range map[string][]int{"": {0, 7}, "park": {0, 7}, "shop": {0}} {
		if got := WithDependents(a, []int{0}, owners, namespace); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", namespace, got, want)
		}
	}
}

package lost

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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

// lives returns an account of CRDs of one name that were created and deleted one after the other. The
// last one is deleted only if gone is set.
func lives(gone bool, crds ...*object.Object) *history.Account {
	past := &history.Past{From: history.Moment{Revision: 10}, To: history.Moment{Revision: 1000}, Resources: &object.Resources{}}
	a := &history.Account{Past: past}
	for i, o := range crds {
		revision := uint64(100 * (i + 1))
		past.Changes = append(past.Changes, history.Change{Revision: revision, Type: object.Added, Object: o})
		if i < len(crds)-1 || gone {
			past.Changes = append(past.Changes, history.Change{Revision: revision + 50, Type: object.Deleted, Object: o, Old: o})
			a.Losses = append(a.Losses, history.Loss{Object: o, Asked: revision + 50, Gone: revision + 50, Cause: history.Cause{Code: history.Requested, Request: i}})
			a.Requests = append(a.Requests, history.Request{Losses: []int{i}, At: history.Moment{Revision: revision + 50}, Took: 1})
			continue
		}
		crd := o.Definition()
		for _, v := range crd.Versions {
			past.Resources.Add(object.Resource{Group: crd.Group, Version: v.Name, Kind: crd.Kind, Name: crd.Plural, Namespaced: crd.Namespaced, Verbs: object.AllVerbs, Custom: true})
		}
	}
	return a
}

// TestDefinitionMadeAgain: a CRD that exists again is not gone. Its former objects are read in a
// version that is served now, unless they were stored in another version or elsewhere. If it is gone,
// only the last one comes back, with the objects of all of them.
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
		for _, g := range Document(a, Question{Source: report.Source{Type: "cluster"}}).Gaps {
			gaps = append(gaps, g.APIVersion+" "+g.Why)
		}
		all := Restorable(a, Question{})
		gone, back, _ := Definitions(a, all)
		for _, of := range Instances(a, append(back, gone...), Question{}) {
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
	a.Losses = append(a.Losses, history.Loss{Object: &object.Object{Ref: lamp}, Asked: 151, Gone: 151, Cause: history.Cause{Code: history.DefinitionDeleted, By: a.Losses[0].Object.Ref}})
	for ref, want := range map[object.Ref]int{lamp: 0, object.CRD.Ref("", "lamps.example.com"): 1} {
		q := Question{Objects: []object.Ref{ref}}
		_, back, _ := Definitions(a, Restorable(a, q))
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
	a.Losses = append(a.Losses, history.Loss{Object: &object.Object{Ref: below}, Asked: 151, Gone: 151, Cause: history.Cause{Code: history.OwnerGone, By: lamp}})
	if got := Restorable(a, Question{Namespace: "park"}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v", got)
	}
	if got := Restorable(a, Question{Objects: []object.Ref{below}}); !slices.Equal(got, []int{1}) {
		t.Errorf("of one that is named: %v", got)
	}
}

// TestBelow: dependents of the instances in a namespace are limited to that namespace.
func TestBelow(t *testing.T) {
	a := restorables()
	owners := map[types.UID]bool{"u-Lamp-l": true}
	for namespace, want := range map[string][]int{"": {0, 7}, "park": {0, 7}, "shop": {0}} {
		if got := Below(a, []int{0}, owners, namespace); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", namespace, got, want)
		}
	}
}

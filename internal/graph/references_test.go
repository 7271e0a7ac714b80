package graph

import (
	"cmp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestCompare(t *testing.T) {
	a, b, c := to("a"), to("b"), to("c")
	blockingA := blockingTo("a")
	pair := func(x, y object.OwnerReference) [2]object.OwnerReference { return [2]object.OwnerReference{x, y} }
	type refs = []object.OwnerReference
	type pairs = [][2]object.OwnerReference
	for _, r := range []struct {
		name     string
		old, new refs
		want     Change
	}{
		{"both empty", nil, nil, Change{}},
		{"equal", refs{a, b}, refs{a, b}, Change{}},
		{"another order", refs{a, b}, refs{b, a}, Change{}},
		{"added", refs{a}, refs{b, a, c}, Change{Added: refs{b, c}}},
		{"removed", refs{c, a, b}, refs{a}, Change{Removed: refs{c, b}}},
		{"replaced", refs{a}, refs{b}, Change{Added: refs{b}, Removed: refs{a}}},
		{"changed", refs{a}, refs{blockingA}, Change{Changed: pairs{pair(a, blockingA)}}},
		{"the last of the old ones counts", refs{a, blockingA}, refs{a}, Change{Changed: pairs{pair(blockingA, a)}}},
		{"the last of the old ones is removed", refs{a, blockingA}, nil, Change{Removed: refs{blockingA}}},
		{"identical old ones are removed once", refs{a, a}, nil, Change{Removed: refs{a}}},
		{"further new ones are added", refs{a}, refs{a, blockingA, a}, Change{Added: refs{blockingA, a}}},
		{"new ones without an old one", nil, refs{a, a}, Change{Added: refs{a, a}}},
		// As upstream: a list with a repeated UID differs from itself.
		{"repeated and unchanged", refs{a, blockingA}, refs{a, blockingA}, Change{Added: refs{blockingA}, Changed: pairs{pair(blockingA, a)}}},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := Compare(r.old, r.new)
			want(t, "change", got, r.want)
			want(t, "empty", got.Empty(), len(r.want.Added)+len(r.want.Removed)+len(r.want.Changed) == 0)
		})
	}
}

// specified is §3.5 B2 word by word, with a map.
func specified(old, next []object.OwnerReference) Change {
	var c Change
	last := map[types.UID]object.OwnerReference{}
	for _, ref := range old {
		last[ref.UID] = ref
	}
	for _, ref := range next {
		before, ok := last[ref.UID]
		if !ok {
			c.Added = append(c.Added, ref)
			continue
		}
		delete(last, ref.UID)
		if before != ref {
			c.Changed = append(c.Changed, [2]object.OwnerReference{before, ref})
		}
	}
	for _, ref := range last {
		c.Removed = append(c.Removed, ref)
	}
	return c
}

func drawReferences(t *rapid.T, label string) []object.OwnerReference {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) object.OwnerReference {
		ref := to(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "uid"))
		ref.BlockOwnerDeletion = object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking"))
		if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			ref.Kind = "Secret"
		}
		return ref
	}), 0, 6).Draw(t, label)
}

func TestCompareIsAsSpecified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, next := drawReferences(t, "old"), drawReferences(t, "new")
		got, wanted := Compare(old, next), specified(old, next)
		byUID := func(x, y object.OwnerReference) int { return cmp.Compare(x.UID, y.UID) }
		slices.SortFunc(got.Removed, byUID)
		slices.SortFunc(wanted.Removed, byUID)
		if !slices.Equal(got.Added, wanted.Added) || !slices.Equal(got.Removed, wanted.Removed) || !slices.Equal(got.Changed, wanted.Changed) {
			t.Fatalf("Compare(%v, %v) = %+v, specified is %+v", old, next, got, wanted)
		}
	})
}

// dependentIn returns an object in a namespace with one reference.
func dependentIn(namespace, name string, refs ...object.OwnerReference) *object.Object {
	o := named(name, refs...)
	o.Namespace = namespace
	return o
}

func reference(apiVersion, kind, name string) object.OwnerReference {
	return object.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "owner"}
}

func ownerAt(apiVersion, kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: "owner"}
}

func TestPartition(t *testing.T) {
	exact, wrong := reference("v1", "ConfigMap", "owner"), reference("v1", "Secret", "owner")
	objects := []*object.Object{
		dependentIn("n", "exact", exact),
		dependentIn("n", "other-kind", wrong),
		dependentIn("n", "other-version", reference("v2", "ConfigMap", "owner")),
		dependentIn("n", "other-name", reference("v1", "ConfigMap", "elsewhere")),
		dependentIn("n", "both", wrong, exact),
		dependentIn("m", "other-namespace", exact),
		dependentIn("", "cluster-scoped", exact),
		dependentIn("n", "also-another-owner", to("exact"), exact),
	}
	graphOf := func(owner object.Ref) (*Graph, ID) {
		g := New()
		id := g.Add(&object.Object{Ref: owner})
		for _, o := range objects {
			g.Link(g.Add(o), id)
		}
		check(t, g)
		return g, id
	}
	t.Run("namespaced", func(t *testing.T) {
		owner := ownerAt("v1", "ConfigMap", "n", "owner")
		g, id := graphOf(owner)
		matching, mismatched := g.Partition(id, owner)
		want(t, "matching", names(g, matching), []string{"exact", "both", "also-another-owner"})
		want(t, "mismatched", names(g, mismatched),
			[]string{"other-kind", "other-version", "other-name", "both", "other-namespace", "cluster-scoped"})
	})
	t.Run("cluster-scoped", func(t *testing.T) {
		owner := ownerAt("v1", "ConfigMap", "", "owner")
		g, id := graphOf(owner)
		matching, mismatched := g.Partition(id, owner)
		want(t, "matching", names(g, matching), []string{"exact", "both", "other-namespace", "cluster-scoped", "also-another-owner"})
		want(t, "mismatched", names(g, mismatched), []string{"other-kind", "other-version", "other-name", "both"})
	})
}

// Covers: S169
func TestAlternateGoesRound(t *testing.T) {
	var dependents []*object.Object
	for _, version := range []string{"v3", "v1", "v5", "v2", "v4", "v2"} {
		dependents = append(dependents, dependentIn("n", "d-"+version, reference(version, "ConfigMap", "owner")))
	}
	for absent, next := range map[string]string{"v1": "v2", "v2": "v3", "v3": "v4", "v4": "v5", "v5": "v1"} {
		got, ok := Alternate(dependents, ownerAt(absent, "ConfigMap", "n", "owner"))
		want(t, "found after "+absent, ok, true)
		want(t, "after "+absent, got, ownerAt(next, "ConfigMap", "n", "owner"))
	}
}

// Covers: S170, S171
func TestAlternateOfClusterScoped(t *testing.T) {
	absent := ownerAt("v1", "Node", "", "owner")
	same := reference("v1", "Node", "owner")
	for _, c := range []struct {
		name       string
		dependents []*object.Object
		want       object.Ref
	}{
		{"the same coordinates from two namespaces", []*object.Object{dependentIn("ns1", "a", same), dependentIn("ns2", "b", same)}, object.Ref{}},
		{"another name of the same kind", []*object.Object{dependentIn("ns1", "a", reference("v1", "Node", "next"))}, ownerAt("v1", "Node", "", "next")},
		{"another kind", []*object.Object{dependentIn("ns1", "a", reference("v1", "Pod", "owner"))}, ownerAt("v1", "Pod", "ns1", "owner")},
		{"another version", []*object.Object{dependentIn("ns1", "a", same, reference("v2", "Node", "owner"))}, ownerAt("v2", "Node", "ns1", "owner")},
		{"another uid", []*object.Object{dependentIn("ns1", "a", to("b"))}, object.Ref{}},
		{"no dependents", nil, object.Ref{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Alternate(c.dependents, absent)
			want(t, "alternate", got, c.want)
			want(t, "found", ok, c.want != object.Ref{})
		})
	}
}

// Identities are ordered by kind, then apiVersion.
func TestAlternateOrder(t *testing.T) {
	dependents := []*object.Object{
		dependentIn("n", "a", reference("v9", "Alpha", "z"), reference("v1", "Beta", "b"), reference("v1", "Beta", "a"), reference("v2", "Beta", "a")),
		dependentIn("m", "b", reference("v1", "Beta", "c")),
	}
	ring := []object.Ref{
		ownerAt("v9", "Alpha", "n", "z"), ownerAt("v1", "Beta", "m", "c"), ownerAt("v1", "Beta", "n", "a"),
		ownerAt("v1", "Beta", "n", "b"), ownerAt("v2", "Beta", "n", "a"),
	}
	for i, absent := range ring {
		got, _ := Alternate(dependents, absent)
		want(t, "after "+absent.String(), got, ring[(i+1)%len(ring)])
	}
}

// An owner with the same coordinates in another namespace is another identity.
func TestAlternateInAnotherNamespace(t *testing.T) {
	dependents := []*object.Object{dependentIn("n", "a", reference("v1", "Pod", "owner")), dependentIn("m", "b", reference("v1", "Pod", "owner"))}
	got, _ := Alternate(dependents, ownerAt("v1", "Pod", "n", "owner"))
	want(t, "alternate", got, ownerAt("v1", "Pod", "m", "owner"))
}

// The alternate is never the absent identity, is named by a dependent, and doesn't depend on the
// order of the dependents.
func TestAlternateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		namespace := rapid.SampledFrom([]string{"", "n", "m"})
		draw := rapid.Custom(func(t *rapid.T) object.OwnerReference {
			ref := reference(rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "kind"), "owner")
			ref.UID = rapid.SampledFrom([]types.UID{"owner", "owner", "other"}).Draw(t, "uid")
			return ref
		})
		dependents := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *object.Object {
			return dependentIn(namespace.Draw(t, "namespace"), "d", rapid.SliceOfN(draw, 0, 3).Draw(t, "refs")...)
		}), 0, 5).Draw(t, "dependents")
		absent := draw.Draw(t, "absent").In(namespace.Draw(t, "absent namespace"))
		got, ok := Alternate(dependents, absent)
		turned := slices.Clone(dependents)
		slices.Reverse(turned)
		if again, _ := Alternate(turned, absent); again != got {
			t.Fatalf("%v in one order, %v in the other", got, again)
		}
		if !ok {
			return
		}
		if got == absent {
			t.Fatal("the absent identity is its own alternate")
		}
		named := slices.ContainsFunc(dependents, func(d *object.Object) bool {
			return slices.ContainsFunc(d.Owners, func(r object.OwnerReference) bool {
				return r.Names(got) && (got.Namespace == d.Namespace || got.Namespace == "")
			})
		})
		if !named {
			t.Fatalf("no dependent names %v", got)
		}
	})
}

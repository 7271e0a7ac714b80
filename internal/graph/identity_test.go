package graph

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

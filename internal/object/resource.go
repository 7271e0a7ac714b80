package object

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Verbs is the set of verbs that a resource offers.
type Verbs uint16

// The verbs that matter here.
const (
	Create Verbs = 1 << iota
	Delete
	DeleteCollection
	Get
	List
	PatchVerb
	Update
	Watch

	AllVerbs = Create | Delete | DeleteCollection | Get | List | PatchVerb | Update | Watch
)

var verbNames = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// VerbsOf parses the verbs of a discovery document and ignores unknown ones.
func VerbsOf(names []string) Verbs {
	var v Verbs
	for _, n := range names {
		if i := slices.Index(verbNames, n); i >= 0 {
			v |= 1 << i
		}
	}
	return v
}

// Has reports whether v contains all verbs of w.
func (v Verbs) Has(w Verbs) bool { return v&w == w }

// Names returns the verbs in alphabetical order.
func (v Verbs) Names() []string {
	var names []string
	for i, n := range verbNames {
		if v.Has(1 << i) {
			names = append(names, n)
		}
	}
	return names
}

// Resource is one served resource in one version.
type Resource struct {
	Group   string
	Version string
	// Name is the plural, as in a URL.
	Name       string
	Kind       string
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	Verbs      Verbs
	// Custom is true for the resources of CustomResourceDefinitions: they support neither strategic
	// merge patches nor unconditional updates. On a live server it is also true for changeable
	// resources of an extension server, because their support is unknown.
	Custom bool
	// Guessed is true for an undeclared resource that was inferred from objects. Its scope and
	// verbs are assumptions.
	Guessed bool
}

// APIVersion returns group and version as written in a manifest.
func (r Resource) APIVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// GroupResource returns the resource without a version: the key of storage, because all versions
// are views of one object.
func (r Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Name}
}

// Undiscovered is an API version with resources that a server has not named.
type Undiscovered struct {
	APIVersion string
	// Why is a text for people.
	Why string
	// Hidden is true if only this client was refused: other clients may see them.
	Hidden bool
}

// Resources are the served resources of a server, as in discovery. The zero value is empty and
// ready. It must not be changed concurrently, but may be read concurrently.
type Resources struct {
	list      []Resource
	byKind    map[schema.GroupVersionKind]Resource
	preferred map[schema.GroupResource]int // index into list
}

// Add adds a resource. Add versions of one resource in the group's order of preference: the first
// one is the preferred one. Adding the same resource and version again replaces it.
func (rs *Resources) Add(r Resource) {
	if rs.byKind == nil {
		rs.byKind = map[schema.GroupVersionKind]Resource{}
		rs.preferred = map[schema.GroupResource]int{}
	}
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	for i, have := range rs.list {
		if have.Group == r.Group && have.Version == r.Version && have.Name == r.Name {
			rs.list[i] = r
			rs.register(r)
			return
		}
	}
	rs.list = append(rs.list, r)
	if _, ok := rs.preferred[r.GroupResource()]; !ok {
		rs.preferred[r.GroupResource()] = len(rs.list) - 1
	}
	rs.register(r)
}

// register makes the kind resolvable, and the other names that a real REST mapper resolves: the
// lower-case kind, and `<Kind>List` and `List` with a guessed resource name that no path serves.
//
// Upstream: apimachinery/pkg/api/meta/restmapper.go DefaultRESTMapper.AddSpecific.
// Upstream: client-go/restmapper/discovery.go NewDiscoveryRESTMapper.
// Rule: spec §3.11, S172, S173.
func (rs *Resources) register(r Resource) {
	gvk := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	rs.byKind[gvk] = r
	rs.alias(gvk, strings.ToLower(r.Kind), r)
	listKind := r.Kind + "List"
	plural, _ := meta.UnsafeGuessKindToResource(gvk.GroupVersion().WithKind(listKind))
	rs.alias(gvk, listKind, phantom(r, listKind, plural.Resource, r.Namespaced))
	rs.alias(gvk, strings.ToLower(listKind), phantom(r, listKind, plural.Resource, r.Namespaced))
	rs.alias(gvk, "List", phantom(r, "List", "lists", false))
	rs.alias(gvk, "list", phantom(r, "List", "lists", false))
}

func (rs *Resources) alias(gvk schema.GroupVersionKind, kind string, r Resource) {
	gvk.Kind = kind
	if have, ok := rs.byKind[gvk]; !ok || have.Verbs == 0 {
		rs.byKind[gvk] = r
	}
}

// phantom returns a resource that maps but that no path serves: every GET of it returns 404.
func phantom(of Resource, kind, name string, namespaced bool) Resource {
	return Resource{Group: of.Group, Version: of.Version, Kind: kind, Name: name, Namespaced: namespaced}
}

// Served reports whether the resource has a path. A phantom such as `podlists` maps but is not
// served.
func (r Resource) Served() bool { return r.Verbs != 0 }

// For returns the resource of an apiVersion and kind. It returns an *UnknownKindError if that exact
// version is not served: it doesn't fall back to another version. (spec §3.11)
func (rs *Resources) For(apiVersion, kind string) (Resource, error) {
	group, version := SplitAPIVersion(apiVersion)
	r, ok := rs.byKind[schema.GroupVersionKind{Group: group, Version: version, Kind: kind}]
	if !ok {
		return Resource{}, &UnknownKindError{APIVersion: apiVersion, Kind: kind}
	}
	return r, nil
}

// Preferred returns the preferred version of a resource.
func (rs *Resources) Preferred(gr schema.GroupResource) (Resource, bool) {
	i, ok := rs.preferred[gr]
	if !ok {
		return Resource{}, false
	}
	return rs.list[i], true
}

// Monitored reports whether the collector watches this resource: it is the preferred version,
// offers delete, list and watch, and is not an Event. (spec §3.3)
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go GetDeletableResources.
// Upstream: pkg/controller/garbagecollector/graph_builder.go ignoredResources.
func (rs *Resources) Monitored(r Resource) bool {
	gr := r.GroupResource()
	if gr.Resource == "events" && (gr.Group == "" || gr.Group == "events.k8s.io") {
		return false
	}
	p, ok := rs.Preferred(gr)
	return ok && p.Version == r.Version && p.Verbs.Has(Delete|List|Watch)
}

// All returns the resources in the order of addition. Callers must not change the slice.
func (rs *Resources) All() []Resource { return rs.list }

// Sorted returns the resources by group, name and version.
func (rs *Resources) Sorted() []Resource {
	sorted := slices.Clone(rs.list)
	slices.SortFunc(sorted, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return sorted
}

// Clone returns an independent copy.
func (rs *Resources) Clone() *Resources {
	c := &Resources{}
	for _, r := range rs.list {
		c.Add(r)
	}
	return c
}

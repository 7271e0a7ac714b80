package object

import (
	"cmp"
	"encoding/json"
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

// MarshalJSON writes the names of the verbs.
func (v Verbs) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{}, v.Names()...)) }

// UnmarshalJSON reads names as VerbsOf does.
func (v *Verbs) UnmarshalJSON(text []byte) error {
	var names []string
	err := json.Unmarshal(text, &names)
	*v = VerbsOf(names)
	return err
}

// Resource is one served resource in one version. Its JSON is that of a stored snapshot.
type Resource struct {
	Group   string `json:"group,omitzero"`
	Version string `json:"version"`
	// Name is the plural, as in a URL.
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Singular   string   `json:"singular,omitzero"`
	ShortNames []string `json:"short,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Namespaced bool     `json:"namespaced,omitzero"`
	Verbs      Verbs    `json:"verbs"`
	// Custom is true for the resources of CustomResourceDefinitions: they support neither strategic
	// merge patches nor unconditional updates. On a live server it is also true for changeable
	// resources of an extension server, because their support is unknown.
	Custom bool `json:"custom,omitzero"`
	// Guessed is true for an undeclared resource that was inferred from objects. Its scope and
	// verbs are assumptions.
	Guessed bool `json:"guessed,omitzero"`
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

// GroupKind returns the kind of the resource without its version.
func (r Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
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
	kinds     map[schema.GroupKind]int     // index into list of the first version
}

// Add adds a resource. Add versions of one resource in the group's order of preference: the first
// one is the preferred one. Adding the same resource and version again replaces it.
func (rs *Resources) Add(r Resource) {
	if rs.byKind == nil {
		rs.byKind = map[schema.GroupVersionKind]Resource{}
		rs.preferred = map[schema.GroupResource]int{}
		rs.kinds = map[schema.GroupKind]int{}
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
	kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
	if _, ok := rs.kinds[kind]; !ok {
		rs.kinds[kind] = len(rs.list) - 1
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

// OfKind returns a resource of a kind, in any version.
func (rs *Resources) OfKind(kind schema.GroupKind) (Resource, bool) {
	i, ok := rs.kinds[kind]
	if !ok {
		return Resource{}, false
	}
	return rs.list[i], true
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
	if r.IsEvent() {
		return false
	}
	p, ok := rs.Preferred(r.GroupResource())
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

// Named resolves a type argument as kubectl does: plural, singular, kind or short name, optionally
// followed by a group, or by a version and a group. Of several matches it returns the first one
// that preferred accepts, or else the first.
func (rs *Resources) Named(arg string, preferred func(Resource) bool) (Resource, bool) {
	name, rest, dotted := strings.Cut(strings.ToLower(arg), ".")
	var all []Resource
	for _, r := range rs.All() {
		if !r.Served() || !r.answersTo(name) || dotted && !r.answersToGroup(rest) {
			continue
		}
		if p, ok := rs.Preferred(r.GroupResource()); ok && !slices.ContainsFunc(all, p.sameStorage) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return Resource{}, false
	}
	return all[max(0, slices.IndexFunc(all, preferred))], true
}

// Names returns the names that types can be called by, without groups.
func (rs *Resources) Names() []string {
	var names []string
	for _, r := range rs.All() {
		if r.Served() {
			names = append(names, r.Name, r.Singular)
			names = append(names, r.ShortNames...)
		}
	}
	return names
}

func (r Resource) sameStorage(s Resource) bool { return r.GroupResource() == s.GroupResource() }

func (r Resource) answersTo(name string) bool {
	return name == r.Name || name == r.Singular || strings.EqualFold(name, r.Kind) || slices.Contains(r.ShortNames, name)
}

func (r Resource) answersToGroup(rest string) bool {
	if rest == r.Group {
		return true
	}
	version, group, _ := strings.Cut(rest, ".")
	return version == r.Version && group == r.Group
}

// moved maps a group-resource to the one that stores its objects now. The old name is a second view
// of the same storage.
var moved = map[schema.GroupResource]schema.GroupResource{
	{Group: "extensions", Resource: "daemonsets"}:          {Group: "apps", Resource: "daemonsets"},
	{Group: "extensions", Resource: "deployments"}:         {Group: "apps", Resource: "deployments"},
	{Group: "extensions", Resource: "replicasets"}:         {Group: "apps", Resource: "replicasets"},
	{Group: "extensions", Resource: "ingresses"}:           {Group: "networking.k8s.io", Resource: "ingresses"},
	{Group: "extensions", Resource: "networkpolicies"}:     {Group: "networking.k8s.io", Resource: "networkpolicies"},
	{Group: "extensions", Resource: "podsecuritypolicies"}: {Group: "policy", Resource: "podsecuritypolicies"},
	{Group: "events.k8s.io", Resource: "events"}:           {Group: "", Resource: "events"},
	// The aggregated API server of OpenShift reads and writes the objects of RBAC.
	{Group: openshiftRBAC, Resource: "clusterrolebindings"}: {Group: rbac, Resource: "clusterrolebindings"},
	{Group: openshiftRBAC, Resource: "clusterroles"}:        {Group: rbac, Resource: "clusterroles"},
	{Group: openshiftRBAC, Resource: "rolebindings"}:        {Group: rbac, Resource: "rolebindings"},
	{Group: openshiftRBAC, Resource: "roles"}:               {Group: rbac, Resource: "roles"},
}

const openshiftRBAC = "authorization.openshift.io"

// projections maps a group-resource to the one that it projects: it shows the same objects with
// their UIDs, but other names or fields. It stores none itself.
var projections = map[schema.GroupResource]schema.GroupResource{
	{Group: "image.openshift.io", Resource: "imagestreamimages"}: {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "image.openshift.io", Resource: "imagestreamtags"}:   {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "image.openshift.io", Resource: "imagetags"}:         {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "project.openshift.io", Resource: "projects"}:        {Group: "", Resource: "namespaces"},
}

// calico is the group of Calico's aggregated API server, which stores its objects as custom
// resources of the group crd.projectcalico.org.
const calico = "projectcalico.org"

// ProjectionOf returns the resource that a group-resource of an aggregated API server projects; ok
// is false for a resource with its own objects. CRDs can also declare Calico's resources: those are
// no projections, and the caller must check that.
func ProjectionOf(gr schema.GroupResource) (of schema.GroupResource, ok bool) {
	if gr.Group == calico {
		return schema.GroupResource{Group: "crd." + calico, Resource: gr.Resource}, true
	}
	of, ok = projections[gr]
	return of, ok
}

// Storage returns the group-resource that stores the objects: the given one unless it is an old
// name.
func Storage(gr schema.GroupResource) schema.GroupResource {
	if to, ok := moved[gr]; ok {
		return to
	}
	return gr
}

// Stored returns the preferred version of the resource that stores the objects of gr: in the group
// that it has moved to, if that is served.
func (rs *Resources) Stored(gr schema.GroupResource) (Resource, bool) {
	if stored, ok := rs.Preferred(Storage(gr)); ok {
		return stored, true
	}
	return rs.Preferred(gr)
}

package apisim

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

type kindKey struct{ apiVersion, kind string }

// viewed is the view of the most recent request. Consecutive requests are mostly for the same kind.
type viewed struct {
	key  kindKey
	view *view
}

// view is one served version of a resource, as a request names it. Views are cached by apiVersion
// and kind, so that a request builds no strings.
type view struct {
	resource object.Resource
	gr       schema.GroupResource
	shelf    int
	// requested and stored are the apiVersions of the request and of storage. stored is the
	// resource's preferred version.
	requested string
	stored    string
	known     bool
}

// Resource returns the resource that serves an apiVersion and kind, or an *object.UnknownKindError.
// (spec §3.11)
func (s *Server) Resource(apiVersion, kind string) (object.Resource, error) {
	return s.resources.For(apiVersion, kind)
}

// viewOf returns the view of an apiVersion and kind. It never fails: the view of a kind that isn't
// served has known false and its own shelf.
func (s *Server) viewOf(apiVersion, kind string) *view {
	key := kindKey{apiVersion, kind}
	if s.recent.key == key && s.recent.view != nil {
		return s.recent.view
	}
	if v, ok := s.views[key]; ok {
		s.recent = viewed{key, v}
		return v
	}
	v := &view{requested: apiVersion, stored: apiVersion}
	r, err := s.resources.For(apiVersion, kind)
	if err == nil {
		v.known = true
		v.requested = r.APIVersion()
	} else {
		r = unserved(apiVersion, kind)
	}
	v.resource, v.gr = r, r.GroupResource()
	if stored, ok := s.resources.Stored(v.gr); ok && v.known {
		v.gr, v.stored = stored.GroupResource(), stored.APIVersion()
	}
	v.shelf = s.shelfOf(v.gr)
	s.views[key] = v
	return v
}

// unserved returns a resource for objects of a kind that isn't served. Its name contains the
// version, so that it never shares the shelf of a served resource.
func unserved(apiVersion, kind string) object.Resource {
	gv := schema.FromAPIVersionAndKind(apiVersion, kind)
	plural, _ := meta.UnsafeGuessKindToResource(gv)
	return object.Resource{
		Group: gv.Group, Version: gv.Version, Kind: kind,
		Name: plural.Resource + " in " + apiVersion, Namespaced: true, Guessed: true,
	}
}

// placeOf returns the namespace that an object is stored under. It is empty for cluster-scoped
// resources, even if a reference names one.
func (v *view) placeOf(namespace string) string {
	if !v.resource.Namespaced {
		return ""
	}
	return namespace
}

// show returns the object in the requested version.
func (v *view) show(o *object.Object) *object.Object {
	if v.requested == v.stored || o == nil {
		return o
	}
	o = o.Clone()
	o.APIVersion = v.requested
	return o
}

// named are the verbs of a single object. A server serves its path only if the resource has one of
// them; a Binding has none.
const named = object.Get | object.Update | object.PatchVerb | object.Delete

// locate maps a reference to a view and the namespace that the object is stored under. Errors have
// the precedence of a client with a REST mapper: no mapping, no namespace, no path, no verb.
func (s *Server) locate(ref object.Ref, verb object.Verbs) (*view, string, error) {
	v := s.viewOf(ref.APIVersion, ref.Kind)
	if !v.known {
		return nil, "", &object.UnknownKindError{APIVersion: ref.APIVersion, Kind: ref.Kind}
	}
	if v.resource.Namespaced && ref.Namespace == "" {
		return nil, "", &object.NamespaceRequiredError{Ref: ref}
	}
	if !v.resource.Served() {
		return nil, "", noPath()
	}
	if !v.resource.Verbs.Has(verb) && !s.changeable(v, verb) {
		if verb != object.Create && v.resource.Verbs&named == 0 {
			return nil, "", noPath()
		}
		return nil, "", noMethod()
	}
	namespace := v.placeOf(ref.Namespace)
	return v, namespace, nil
}

// changeable reports whether a create or update of an instance is served although discovery doesn't
// list the verb: discovery omits these verbs while the definition is being deleted.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go DiscoveryController.sync.
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go serveResource: refuses
// only to create.
// Rule: S193.
func (s *Server) changeable(v *view, verb object.Verbs) bool {
	return verb&(object.Create|object.Update|object.PatchVerb) != 0 && v.resource.Custom && s.definitionTerminates(v)
}

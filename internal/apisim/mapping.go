package apisim

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

type kindKey struct{ apiVersion, kind string }

// viewed is a view and the request that it is for: one is mostly for what the one before was for.
type viewed struct {
	key  kindKey
	view *view
}

// view is one served version of a resource, as a request names it. Views are
// made once per apiVersion and kind, so that a request builds no strings.
type view struct {
	resource object.Resource
	gr       schema.GroupResource
	shelf    int
	// requested and stored are the apiVersions of the request and of storage,
	// which is the resource's preferred one.
	requested string
	stored    string
	known     bool
}

// Resource maps an apiVersion and kind to the resource that serves it, or says
// with an *object.UnknownKindError that none does. (spec §3.11)
func (s *Server) Resource(apiVersion, kind string) (object.Resource, error) {
	return s.resources.For(apiVersion, kind)
}

// viewOf never fails: a kind that is not served gets a view that is not known
// and has a shelf of its own.
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

// unserved is a resource for objects of a kind that is not served. Its name
// holds the version, so that it never meets the shelf of a served resource.
func unserved(apiVersion, kind string) object.Resource {
	gv := schema.FromAPIVersionAndKind(apiVersion, kind)
	plural, _ := meta.UnsafeGuessKindToResource(gv)
	return object.Resource{
		Group: gv.Group, Version: gv.Version, Kind: kind,
		Name: plural.Resource + " in " + apiVersion, Namespaced: true, Guessed: true,
	}
}

func cloneViews(views map[kindKey]*view) map[kindKey]*view { return maps.Clone(views) }

// placeOf is the namespace under which an object is stored: cluster-scoped
// resources have none, whatever a reference says.
func (v *view) placeOf(namespace string) string {
	if !v.resource.Namespaced {
		return ""
	}
	return namespace
}

// show is the object in the version of the request.
func (v *view) show(o *object.Object) *object.Object {
	if v.requested == v.stored || o == nil {
		return o
	}
	o = o.Clone()
	o.APIVersion = v.requested
	return o
}

// named are the verbs that make a server serve the path of a single object, such as
// none of a Binding.
const named = object.Get | object.Update | object.PatchVerb | object.Delete

// locate maps a reference to a view and the namespace that the object is stored
// under. The order of the refusals is that of a client with a REST mapper: no
// mapping, no namespace, no path, no verb.
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

// changeable reports whether a request to create or change an instance is taken although
// discovery does not say so: it leaves these verbs out as long as the definition is
// being deleted.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go DiscoveryController.sync.
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go serveResource: refuses
// nothing but to create.
// Rule: S193.
func (s *Server) changeable(v *view, verb object.Verbs) bool {
	return verb&(object.Create|object.Update|object.PatchVerb) != 0 && v.resource.Custom && s.definitionTerminates(v)
}

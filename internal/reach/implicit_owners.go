package reach

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Some objects are deleted with others without an owner reference or being contained in them: with
// their implicit owner (object.ImplicitOwner), and the APIService of a version with the definitions
// that serve it. internal/apisim/controllers has the controllers that delete them.

// retain is the policy of volumes that stay when their claim is deleted.
const retain = "Retain"

// follow fills leaders and followers.
func (m *Map) follow() {
	serving := m.serving()
	for same := range m.snap.ByKind() {
		if !mayFollow(same[0]) {
			continue
		}
		for _, o := range same {
			leaders := m.leadersOf(o, serving)
			if len(leaders) > 0 {
				m.leaders[o] = leaders
			}
			for _, leader := range leaders {
				m.followers[leader] = append(m.followers[leader], o)
			}
		}
	}
}

// mayFollow reports whether an object is of a kind that may have leaders.
func mayFollow(o *object.Object) bool {
	return slices.ContainsFunc([]object.Kind{object.PV, object.Secret, object.EndpointSlice, object.Endpoints, object.IPAddress, object.APIService}, o.Is)
}

// leadersOf returns the objects that o is deleted with. If there are several, o is deleted with the
// last of them.
func (m *Map) leadersOf(o *object.Object, serving map[string][]*object.Object) []*object.Object {
	if o.RegisteredForCRDs() {
		_, group, _ := strings.Cut(o.Name, ".")
		return slices.Concat(serving[o.Name], serving["."+group])
	}
	owner, ok := o.ImplicitOwner()
	switch {
	case !ok || o.Is(object.IPAddress) && !o.IsServiceAddress() || o.Volume() != nil && o.Volume().ReclaimPolicy == retain:
		return nil
	case owner.Kind == object.PVC:
		return m.claim(owner.Namespace, owner.Name)
	}
	return m.find(owner.Kind, owner.Namespace, owner.Name)
}

// serving returns the definitions by the names of the APIServices that they need. A definition with
// unknown content is under a dot and its group, and counts for all versions.
func (m *Map) serving() map[string][]*object.Object {
	names := map[string][]*object.Object{}
	for _, o := range m.everywhere {
		if !o.Is(object.CRD) {
			continue
		}
		facts := o.Definition()
		if facts == nil {
			_, group, _ := strings.Cut(o.Name, ".")
			names["."+group] = append(names["."+group], o)
			continue
		}
		for _, v := range facts.Versions {
			if v.Served {
				at := v.Name + "." + facts.Group
				names[at] = append(names[at], o)
			}
		}
	}
	return names
}

// find returns the object of a kind with this name, as a slice of zero or one element.
func (m *Map) find(kind object.Kind, namespace, name string) []*object.Object {
	if o := m.snap.FindKind(kind, namespace, name); o != nil {
		return []*object.Object{o}
	}
	return nil
}

// contents are the objects that are deleted with a container. of has them by namespace, instances by
// definition.
type contents struct {
	of        map[string][]*object.Object
	instances map[*object.Object][]*object.Object
}

// contents returns the contents of the snapshot, computed on first use: few deletes need them.
func (m *Map) contents() *contents {
	if m.inside != nil {
		return m.inside
	}
	m.inside = &contents{of: map[string][]*object.Object{}, instances: map[*object.Object][]*object.Object{}}
	for same := range m.snap.ByKind() {
		if d := m.definitionOf(same[0].APIVersion, same[0].Kind); d != nil {
			m.inside.instances[d] = append(m.inside.instances[d], same...)
		}
		for _, o := range same {
			if o.Namespace != "" {
				m.inside.of[o.Namespace] = append(m.inside.of[o.Namespace], o)
			}
		}
	}
	return m.inside
}

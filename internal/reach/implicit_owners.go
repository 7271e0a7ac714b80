package reach

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Some objects are deleted with others without an owner reference or being contained in them: with
// their implicit owner (object.ImplicitOwner), the APIService of a version with the definitions that
// serve it, and what a deployer deletes with an object of its own (finalizer.Deployer).
// internal/apisim/controllers and internal/plan have the controllers that delete them.

// retain is the policy of volumes that stay when their claim is deleted.
const retain = "Retain"

// indexImplicitOwners fills implicitOwners and implicitDependents.
func (m *Map) indexImplicitOwners() {
	serving := m.crdsByAPIService()
	for same := range m.snap.ByKind() {
		if !mayHaveImplicitOwner(same[0]) {
			continue
		}
		for _, o := range same {
			for _, owner := range m.findImplicitOwners(o, serving) {
				m.addImplicitOwner(owner, o)
			}
		}
	}
	inventories := finalizer.NewInventories(m.snap)
	for _, from := range m.snap.Objects {
		for _, o := range inventories.MayDelete(from) {
			m.addImplicitOwner(from, o)
		}
		if deciding := inventories.Deciding(from); deciding != nil {
			m.readByDeployers[from] = deciding
		}
	}
}

// addImplicitOwner records that o may be deleted with owner.
func (m *Map) addImplicitOwner(owner, o *object.Object) {
	m.implicitOwners[o] = append(m.implicitOwners[o], owner)
	m.implicitDependents[owner] = append(m.implicitDependents[owner], o)
}

// mayHaveImplicitOwner reports whether an object is of a kind that may have implicit owners.
func mayHaveImplicitOwner(o *object.Object) bool {
	return slices.ContainsFunc([]object.Kind{object.PV, object.Secret, object.EndpointSlice, object.Endpoints, object.IPAddress, object.APIService}, o.Is)
}

// findImplicitOwners returns the objects that o is deleted with, without deployers. If there are several, o is deleted
// with the last of them.
func (m *Map) findImplicitOwners(o *object.Object, serving map[string][]*object.Object) []*object.Object {
	if o.RegisteredForCRDs() {
		_, group, _ := strings.Cut(o.Name, ".")
		return slices.Concat(serving[o.Name], serving["."+group])
	}
	owner, ok := o.ImplicitOwner()
	if !ok || o.Is(object.IPAddress) && !o.IsServiceAddress() || o.Volume() != nil && o.Volume().ReclaimPolicy == retain {
		return nil
	}
	return m.find(owner.Kind, owner.Namespace, owner.Name)
}

// crdsByAPIService returns the definitions by the names of the APIServices that they need. A
// definition with unknown content is under a dot and its group, and counts for all versions.
func (m *Map) crdsByAPIService() map[string][]*object.Object {
	names := map[string][]*object.Object{}
	for _, o := range m.alwaysRead {
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

// contents are the objects that are deleted with a container. byNamespace has them by namespace,
// byDefinition by definition.
type contents struct {
	byNamespace  map[string][]*object.Object
	byDefinition map[*object.Object][]*object.Object
}

// contents returns the contents of the snapshot, computed on first use: few deletes need them.
func (m *Map) contents() *contents {
	if m.containerContents != nil {
		return m.containerContents
	}
	m.containerContents = &contents{byNamespace: map[string][]*object.Object{}, byDefinition: map[*object.Object][]*object.Object{}}
	for same := range m.snap.ByKind() {
		if d := m.definitionOf(same[0].APIVersion, same[0].Kind); d != nil {
			m.containerContents.byDefinition[d] = append(m.containerContents.byDefinition[d], same...)
		}
		for _, o := range same {
			if o.Namespace != "" {
				m.containerContents.byNamespace[o.Namespace] = append(m.containerContents.byNamespace[o.Namespace], o)
			}
		}
	}
	return m.containerContents
}

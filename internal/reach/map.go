package reach

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Map is a snapshot with the paths that deletes follow. It is not safe for concurrent use.
type Map struct {
	snap  *snapshot.Snapshot
	graph *graph.Graph
	// The next fields are computed on first use: see contents, uses, graphNode and possibleOwners.
	containerContents *contents
	usageIndex        *uses
	// usersOfClaims and podsOnNodes are the results of claimUsers and podsOn.
	usersOfClaims map[namespacedName][]*object.Object
	podsOnNodes   map[string][]*object.Object
	graphNodes    graphNodes
	lastOwners    ownersCache
	// implicitOwners has the objects that an object is deleted with although it does not refer to
	// them. implicitDependents is the reverse index.
	implicitOwners, implicitDependents map[*object.Object][]*object.Object
	// readByDeployers has the objects that decide what a deployer deletes with an object
	// (finalizer.Inventories.Deciding).
	readByDeployers map[*object.Object][]*object.Object
	// definitions caches the definition of each kind; nil for a kind without one. defined indexes
	// the definitions with known content by the kind they define.
	definitions map[versionedKind]*object.Object
	defined     map[schema.GroupKind]*object.Object
	// alwaysRead has the objects that controllers read whatever is deleted.
	alwaysRead []*object.Object
	// freedBy returns which of the unstable objects have deletions that an object obstructs. nil if
	// that is unknown. freed caches the results that are not nil.
	freedBy           func(by object.Ref) []*object.Object
	freed             map[*object.Object][]*object.Object
	namespaces, nodes map[string]*object.Object
	unstable          map[*object.Object]bool // see findUnstable
	// ambiguous: objects share a uid, or references name objects without one, so that ownership is
	// unknown. sameUID has the objects that share a uid.
	ambiguous bool
	sameUID   map[types.UID][]*object.Object
	// unwatched has the objects of kinds that the collector does not watch, such as Events. If a
	// reference names one as an owner, the collector keeps reading it and its own owners.
	// unwatchedDependents has the unwatched objects by the uids of their owners.
	unwatched           map[types.UID]*object.Object
	unwatchedDependents map[types.UID][]*object.Object
}

// New returns the map of a snapshot. g is the graph of a collector that has observed the whole
// snapshot and done nothing yet.
func New(snap *snapshot.Snapshot, g *graph.Graph) *Map {
	m := &Map{
		snap: snap, graph: g,
		implicitOwners: map[*object.Object][]*object.Object{}, implicitDependents: map[*object.Object][]*object.Object{},
		readByDeployers: map[*object.Object][]*object.Object{},
		definitions:     map[versionedKind]*object.Object{}, defined: map[schema.GroupKind]*object.Object{}, namespaces: map[string]*object.Object{}, nodes: map[string]*object.Object{}, unstable: map[*object.Object]bool{},
		sameUID: map[types.UID][]*object.Object{}, unwatched: map[types.UID]*object.Object{},
		unwatchedDependents: map[types.UID][]*object.Object{},
	}
	for same := range m.snap.ByKind() {
		m.index(same)
	}
	m.indexImplicitOwners()
	m.findSharedUIDs()
	m.findUnstable()
	return m
}

// Obstructed tells the map which deletions an object obstructs: they go on once it is deleted.
func (m *Map) Obstructed(freedBy func(by object.Ref, unstable func() []*object.Object) []*object.Object) {
	unstable := m.Unstable
	m.freedBy, m.freed = func(by object.Ref) []*object.Object { return freedBy(by, unstable) }, map[*object.Object][]*object.Object{}
}

// FreedBy returns the objects whose deletion may go on once an object is gone that obstructs it.
func (m *Map) FreedBy(o *object.Object) []*object.Object {
	if m.freedBy == nil {
		return nil
	}
	if found, known := m.freed[o]; known {
		return found
	}
	found := m.freedBy(o.Ref)
	if found != nil {
		m.freed[o] = found
	}
	return found
}

// index indexes the objects of one kind.
func (m *Map) index(same []*object.Object) {
	of := same[0]
	if r, err := m.snap.Resources.For(of.APIVersion, of.Kind); err != nil || !m.snap.Resources.Monitored(r) {
		m.indexUnwatched(same)
	}
	switch {
	case of.Is(object.CRD):
		m.alwaysRead = append(m.alwaysRead, same...)
		m.indexDefinitions(same)
	case of.Is(object.Namespace):
		m.alwaysRead = append(m.alwaysRead, same...)
		for _, o := range same {
			m.namespaces[o.Name] = o
		}
	case of.Is(object.Node):
		m.alwaysRead = append(m.alwaysRead, same...)
		for _, o := range same {
			m.nodes[o.Name] = o
		}
	}
}

func (m *Map) indexDefinitions(same []*object.Object) {
	for _, o := range same {
		d := o.Definition()
		if d == nil {
			continue
		}
		if at := (schema.GroupKind{Group: d.Group, Kind: d.Kind}); m.defined[at] == nil {
			m.defined[at] = o
		}
	}
}

// indexUnwatched indexes objects that the collector does not watch, unless a watched object has the
// same uid.
func (m *Map) indexUnwatched(same []*object.Object) {
	for _, o := range same {
		if id, ok := m.graph.Find(o.UID); ok && !m.graph.Virtual(id) {
			continue
		}
		m.unwatched[o.UID] = o
		for _, ref := range o.Owners {
			m.unwatchedDependents[ref.UID] = append(m.unwatchedDependents[ref.UID], o)
		}
	}
}

// findSharedUIDs finds the objects that share a uid.
func (m *Map) findSharedUIDs() {
	for _, p := range m.snap.Problems {
		if p.Kind == snapshot.DuplicateUID {
			m.ambiguous = true
			m.sameUID[p.Object.UID] = nil
		}
	}
	if !m.ambiguous {
		m.ambiguous = refersToNoUID(m.snap)
		return
	}
	for _, o := range m.snap.Objects {
		if list, ok := m.sameUID[o.UID]; ok {
			m.sameUID[o.UID] = append(list, o)
		}
	}
}

// versionedKind is a kind in one API version.
type versionedKind struct{ apiVersion, kind string }

// refersToNoUID reports whether a reference has no uid, or has the kind and name of an object that has none in
// the snapshot, and so may mean it.
func refersToNoUID(snap *snapshot.Snapshot) bool {
	names := map[string]bool{}
	for _, p := range snap.Problems {
		if p.Kind == snapshot.NoOwnerUID {
			return true
		}
		if p.Kind == snapshot.NoUID {
			names[p.Object.Kind+"/"+p.Object.Name] = true
		}
	}
	return len(names) > 0 && slices.ContainsFunc(snap.Objects, func(o *object.Object) bool {
		return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool { return names[ref.Kind+"/"+ref.Name] })
	})
}

// definitionOf returns the CustomResourceDefinition of a kind; nil if the snapshot has none.
func (m *Map) definitionOf(apiVersion, name string) *object.Object {
	if object.GroupOf(apiVersion) == "" {
		return nil
	}
	key := versionedKind{apiVersion, name}
	d, known := m.definitions[key]
	if !known {
		d = m.findDefinition(apiVersion, name)
		m.definitions[key] = d
	}
	return d
}

func (m *Map) findDefinition(apiVersion, name string) *object.Object {
	if r, err := m.snap.Resources.For(apiVersion, name); err == nil {
		if d := m.snap.FindKind(object.CRD, "", r.Name+"."+r.Group); d != nil {
			return d
		}
	}
	return m.defined[schema.GroupKind{Group: object.GroupOf(apiVersion), Kind: name}]
}

// IgnoresPolicy reports whether the policy of the object's delete makes no difference to others: it
// is a container that is not being deleted and has no dependents. Its content goes under any
// policy. (spec §5.1, §6.1)
func (m *Map) IgnoresPolicy(o *object.Object) bool {
	if !o.IsContainer() || o.BeingDeleted() || m.ambiguous {
		return false
	}
	id, ok := m.graph.Find(o.UID)
	return ok && m.graph.DependentCount(id) == 0
}

// Owners returns the objects that must all be gone before a stable object is deleted, unless it is
// deleted with its container or an implicit owner: its owners, without duplicates, or the implicit
// owners of an object without owners. Of several implicit owners, a deployer deletes it alone.
func (m *Map) Owners(o *object.Object) []*object.Object {
	if len(o.Owners) == 0 {
		return m.implicitOwners[o]
	}
	id, ok := m.graph.Find(o.UID)
	if !ok {
		return nil
	}
	var owners []*object.Object
	if m.graph.Virtual(id) { // the collector looks it up without watching it, so its node has no references
		for _, ref := range o.Owners {
			if owner, ok := m.graph.Find(ref.UID); ok && !m.graph.Virtual(owner) && !slices.Contains(owners, m.object(owner)) {
				owners = append(owners, m.object(owner))
			}
		}
		return owners
	}
	owners = append(owners, object.Mapped(m.graph.OwnersOf(id), m.object)...)
	return owners
}

// ImplicitOwners returns the objects that an object is deleted with although it does not refer to
// them.
func (m *Map) ImplicitOwners(o *object.Object) []*object.Object { return m.implicitOwners[o] }

// IsStable reports whether nothing happens to the object without a delete request: see
// findUnstable.
func (m *Map) IsStable(o *object.Object) bool { return !m.ambiguous && !m.unstable[o] }

// ownersCache has the possible owners of the last object. Its siblings have the same owners.
type ownersCache struct {
	object *object.Object
	owners []*object.Object
}

// possibleOwners returns the objects that the references of o may mean: those with the uids, and
// those with the names, whatever their uids.
func (m *Map) possibleOwners(o *object.Object) []*object.Object {
	if len(o.Owners) == 0 {
		return nil
	}
	if !sameOwners(m.lastOwners.object, o) {
		m.lastOwners = ownersCache{object: o, owners: slices.Clip(m.findPossibleOwners(o))}
	}
	return m.lastOwners.owners
}

// findPossibleOwners is possibleOwners without its cache.
func (m *Map) findPossibleOwners(o *object.Object) []*object.Object {
	var owners []*object.Object
	for _, ref := range o.Owners {
		exact := false
		if id, ok := m.graph.Find(ref.UID); ok && !m.graph.Virtual(id) {
			x := m.object(id)
			owners = append(owners, x)
			exact = x.Name == ref.Name && x.Kind == ref.Kind && x.APIVersion == ref.APIVersion && (x.Namespace == "" || x.Namespace == o.Namespace)
		}
		if x := m.unwatched[ref.UID]; x != nil {
			owners = append(owners, x)
		}
		if !exact { // another object may have the name
			if x := m.findByName(ref, o.Namespace); x != nil {
				owners = append(owners, x)
			}
		}
		owners = append(owners, m.sameUID[ref.UID]...)
	}
	return owners
}

// object returns the object of the snapshot for a graph node. The graph merges objects that share a
// uid into one of its own.
func (m *Map) object(id graph.ID) *object.Object {
	o := m.graph.Object(id)
	if _, twin := m.sameUID[o.UID]; !twin {
		return o
	}
	return m.snap.Find(o.APIVersion, o.Kind, o.Namespace, o.Name)
}

// findByName returns the object with the name of a reference, whatever its uid.
func (m *Map) findByName(ref object.OwnerReference, namespace string) *object.Object {
	r, err := m.snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	if !r.Namespaced {
		namespace = ""
	}
	preferred, ok := m.snap.Resources.Stored(r.GroupResource())
	if !ok {
		return nil
	}
	return m.snap.Find(preferred.APIVersion(), preferred.Kind, namespace, ref.Name)
}

// containers returns the objects with which o may be deleted although it is not their dependent:
// its namespace, its definition, its node, the definitions of its owners' kinds, and its implicit
// owners.
func (m *Map) containers(o *object.Object) []*object.Object { return m.appendContainers(nil, o) }

func (m *Map) appendContainers(found []*object.Object, o *object.Object) []*object.Object {
	add := func(x *object.Object) {
		if x != nil && x != o {
			found = append(found, x)
		}
	}
	add(m.namespaces[o.Namespace])
	add(m.definitionOf(o.APIVersion, o.Kind))
	for i := range o.Owners {
		add(m.definitionOf(o.Owners[i].APIVersion, o.Owners[i].Kind))
	}
	if facts := o.Pod(); facts != nil && facts.NodeName != "" {
		add(m.nodes[facts.NodeName])
	}
	return append(found, m.implicitOwners[o]...)
}

// DeletedWith returns the objects that are deleted with o: its dependents, with and without
// references, its content, and those whose deletion it obstructs.
func (m *Map) DeletedWith(o *object.Object) []*object.Object {
	var found []*object.Object
	if id, ok := m.graphNode(o); ok && m.graph.DependentCount(id) > 0 {
		found = make([]*object.Object, 0, m.graph.DependentCount(id))
		m.graph.EachDependent(id, func(d graph.ID) bool {
			found = append(found, m.object(d))
			return true
		})
	}
	switch {
	case o.Is(object.Namespace):
		found = append(found, m.contents().byNamespace[o.Name]...)
	case o.Is(object.CRD):
		found = append(found, m.contents().byDefinition[o]...)
	case o.Is(object.Node):
		found = append(found, m.podsOn(o.Name)...)
	}
	found = append(found, m.unwatchedDependents[o.UID]...)
	found = append(found, m.FreedBy(o)...)
	return append(found, m.implicitDependents[o]...)
}

// existsExactly reports whether an owner exists exactly as the reference describes it.
func (m *Map) existsExactly(ref object.OwnerReference, o *object.Object) bool {
	id, ok := m.graph.Find(ref.UID)
	if !ok || m.graph.Virtual(id) {
		return false
	}
	return m.describesExactly(ref, m.graph.Identity(id), o)
}

// describesExactly reports whether a reference describes an owner exactly.
func (m *Map) describesExactly(ref object.OwnerReference, owner object.Ref, o *object.Object) bool {
	if owner.Name != ref.Name || !strings.EqualFold(owner.Kind, ref.Kind) || owner.Namespace != "" && owner.Namespace != o.Namespace {
		return false
	}
	r, err := m.snap.Resources.For(ref.APIVersion, ref.Kind)
	return err == nil && object.Storage(r.GroupResource()) == object.Storage(m.groupResource(owner))
}

func (m *Map) groupResource(ref object.Ref) schema.GroupResource {
	r, _ := m.snap.Resources.For(ref.APIVersion, ref.Kind)
	return r.GroupResource()
}

// graphNodes caches the graph nodes of the objects in the snapshot, by index, to avoid lookups by
// uid.
type graphNodes struct {
	lookups int
	ids     []graph.ID
}

// graphNode returns the graph node with the uid of an object.
func (m *Map) graphNode(o *object.Object) (graph.ID, bool) {
	const few = 16 // the cache is filled after lookups of more than 1/few of all objects
	if m.graphNodes.lookups++; m.graphNodes.ids == nil && m.graphNodes.lookups > len(m.snap.Objects)/few {
		m.fillGraphNodes()
	}
	switch i := m.snap.Place(o); {
	case i >= 0 && m.graphNodes.ids != nil && m.graphNodes.ids[i] != 0:
		return m.graphNodes.ids[i], true
	default:
		return m.graph.Find(o.UID)
	}
}

func (m *Map) fillGraphNodes() {
	m.graphNodes.ids = make([]graph.ID, len(m.snap.Objects))
	for id := range m.graph.All {
		if m.graph.Virtual(id) {
			continue
		}
		if i := m.snap.Place(m.graph.Object(id)); i >= 0 {
			m.graphNodes.ids[i] = id
		}
	}
}

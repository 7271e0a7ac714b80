package graph

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// model is the graph as maps and lists: slow and obviously correct.
type model struct {
	g     *Graph
	nodes map[ID]*modelNode
	gone  []ID
}

type modelNode struct {
	identity object.Ref
	owners   []object.OwnerReference
	virtual  bool
	// dependents in the order of linking
	dependents []ID
}

var machineUIDs = []types.UID{"a", "b", "c", "d", "e"}

func (m *model) ids() []ID {
	var ids []ID
	for id := range m.g.All {
		ids = append(ids, id)
	}
	return ids
}

func (m *model) pick(t *rapid.T, label string) ID {
	ids := m.ids()
	if len(ids) == 0 {
		t.Skip("the graph is empty")
	}
	return rapid.SampledFrom(ids).Draw(t, label)
}

func (m *model) missing(t *rapid.T) types.UID {
	var free []types.UID
	for _, uid := range machineUIDs {
		if _, ok := m.g.Find(uid); !ok {
			free = append(free, uid)
		}
	}
	if len(free) == 0 {
		t.Skip("every uid is taken")
	}
	return rapid.SampledFrom(free).Draw(t, "uid")
}

func drawOwners(t *rapid.T) []object.OwnerReference {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) object.OwnerReference {
		ref := to(string(rapid.SampledFrom(machineUIDs).Draw(t, "owner")))
		ref.BlockOwnerDeletion = object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking"))
		return ref
	}), 0, 4).Draw(t, "owners")
}

func (m *model) add(t *rapid.T) {
	uid := m.missing(t)
	o := named(string(uid), drawOwners(t)...)
	m.nodes[m.g.Add(o)] = &modelNode{identity: o.Ref, owners: o.Owners}
}

func (m *model) addVirtual(t *rapid.T) {
	identity := identity(string(m.missing(t)))
	m.nodes[m.g.AddVirtual(identity)] = &modelNode{identity: identity, virtual: true}
}

func (m *model) link(t *rapid.T) {
	dependent, owner := m.pick(t, "dependent"), m.pick(t, "owner")
	if !slices.ContainsFunc(m.nodes[dependent].owners, func(r object.OwnerReference) bool { return r.UID == m.nodes[owner].identity.UID }) {
		t.Skip("there is no such reference")
	}
	m.g.Link(dependent, owner)
	if !slices.Contains(m.nodes[owner].dependents, dependent) {
		m.nodes[owner].dependents = append(m.nodes[owner].dependents, dependent)
	}
}

func (m *model) unlink(t *rapid.T) {
	dependent, owner := m.pick(t, "dependent"), m.pick(t, "owner")
	m.g.Unlink(dependent, owner)
	m.drop(dependent, owner)
}

func (m *model) drop(dependent, owner ID) {
	n := m.nodes[owner]
	n.dependents = slices.DeleteFunc(slices.Clone(n.dependents), func(id ID) bool { return id == dependent })
}

// update replaces an observed object and unlinks the owners that it no longer refers to, as
// required of callers of Update.
func (m *model) update(t *rapid.T) {
	id := m.pick(t, "node")
	n := m.nodes[id]
	if n.virtual {
		m.g.MarkObserved(id)
		n.virtual = false
	}
	o := named(n.identity.Name, drawOwners(t)...)
	m.g.Update(id, o)
	n.owners = o.Owners
	for owner := range m.nodes {
		if !o.RefersTo(m.nodes[owner].identity.UID) {
			m.g.Unlink(id, owner)
			m.drop(id, owner)
		}
	}
}

func (m *model) replace(t *rapid.T) {
	id := m.pick(t, "node")
	n := m.nodes[id]
	other := n.identity
	other.Kind = rapid.SampledFrom([]string{"ConfigMap", "Secret"}).Draw(t, "kind")
	old := m.g.Identity(id)
	fresh := m.g.Replace(id, other)
	delete(m.nodes, id)
	n.identity = other
	m.nodes[fresh] = n
	for _, owner := range m.nodes {
		if i := slices.Index(owner.dependents, id); i >= 0 {
			owner.dependents[i] = fresh
		}
	}
	m.gone = append(m.gone, id)
	if m.g.Present(id) || m.g.Identity(id) != old {
		t.Fatalf("the replaced node %d is present or forgot its identity", id)
	}
}

func (m *model) remove(t *rapid.T) {
	id := m.pick(t, "node")
	m.g.Remove(id)
	delete(m.nodes, id)
	for owner := range m.nodes {
		m.drop(id, owner)
	}
	m.gone = append(m.gone, id)
}

func (m *model) free(t *rapid.T) {
	if len(m.gone) == 0 {
		t.Skip("nothing has gone")
	}
	m.g.Free(m.gone[0])
	m.gone = m.gone[1:]
}

// agree compares every result of the graph with the model's.
func (m *model) agree(t *rapid.T) {
	if err := m.g.Check(); err != nil {
		t.Fatal(err)
	}
	if m.g.Len() != len(m.nodes) || len(m.ids()) != len(m.nodes) {
		t.Fatalf("%d nodes, want %d", m.g.Len(), len(m.nodes))
	}
	for id, n := range m.nodes {
		var dependents []ID
		m.g.EachDependent(id, func(d ID) bool {
			dependents = append(dependents, d)
			return true
		})
		blocking := 0
		for _, d := range n.dependents {
			for _, ref := range m.nodes[d].owners {
				if ref.UID == n.identity.UID && ref.Blocks() {
					blocking++
				}
			}
		}
		found, ok := m.g.Find(n.identity.UID)
		got := fmt.Sprint(found, ok, m.g.Identity(id), m.g.Virtual(id), m.g.Present(id), dependents, m.g.DependentCount(id), m.g.BlockingCount(id), m.g.Owners(id))
		wanted := fmt.Sprint(id, true, n.identity, n.virtual, true, n.dependents, len(n.dependents), blocking, n.owners)
		if got != wanted {
			t.Fatalf("node %d:\n got %s\nwant %s", id, got, wanted)
		}
	}
	for _, id := range m.gone {
		if m.g.Present(id) || m.g.DependentCount(id) != 0 {
			t.Fatalf("node %d has gone and is present or has dependents", id)
		}
	}
}

func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{g: New(), nodes: map[ID]*modelNode{}}
		t.Repeat(map[string]func(*rapid.T){
			"":           m.agree,
			"Add":        m.add,
			"AddVirtual": m.addVirtual,
			"Link":       m.link,
			"Link again": m.link,
			"Unlink":     m.unlink,
			"Update":     m.update,
			"Replace":    m.replace,
			"Remove":     m.remove,
			"Free":       m.free,
		})
	})
}

package object

import "slices"

// Inventory returns what a deployer has applied; nil for other kinds, or if the dump lacks it.
func (o *Object) Inventory() *InventoryFacts {
	f, _ := o.Facts().(*InventoryFacts)
	return f
}

// InventoryFacts are the objects that a deployer has applied for one of its own objects, and whether
// it deletes them with it. A Flux Kustomization that has applied a Deployment and prunes it:
//
//	{Entries: [{apps Deployment shop web}]}
type InventoryFacts struct {
	// Entries have no version and no uid: a deployer deletes whatever has these coordinates.
	Entries []Coordinates `json:"entries,omitempty"`
	// Keeps is true if the object says that the entries stay.
	Keeps bool `json:"keeps,omitzero"`
	// Remote is true if the entries are in another cluster.
	Remote bool `json:"remote,omitzero"`
	// Unread is why Entries may lack some, for people. Empty if they are complete.
	Unread string `json:"unread,omitzero"`
}

func (f *InventoryFacts) store(s *StoredFacts) { s.Inventory = f }

// Share replaces the groups, kinds and namespaces.
func (f *InventoryFacts) Share(text func(string) string) {
	for i := range f.Entries {
		e := &f.Entries[i]
		e.Group, e.Kind, e.Namespace = text(e.Group), text(e.Kind), text(e.Namespace)
	}
	f.Unread = text(f.Unread)
}

func (f *InventoryFacts) equal(x Facts) bool {
	g, ok := x.(*InventoryFacts)
	return ok && f.Keeps == g.Keeps && f.Remote == g.Remote && f.Unread == g.Unread && slices.Equal(f.Entries, g.Entries)
}

package object

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Inventory returns what a deployer has applied, or what a snapshot of a volume is bound to; nil for other
// kinds, or if the dump lacks it.
func (o *Object) Inventory() *InventoryFacts { return factsAs[*InventoryFacts](o) }

// InventoryFacts are the objects that a deployer has applied for one of its own objects, and whether
// it deletes them with it. A Flux Kustomization that has applied a Deployment and prunes it:
//
//	{Entries: [{apps Deployment shop web}]}
//
// A VolumeSnapshot and its VolumeSnapshotContent list each other. Those of the content have Keeps unless its
// deletionPolicy is Delete.
type InventoryFacts struct {
	Entries []InventoryEntry `json:"entries,omitempty"`
	// Keeps is true if the object says that the entries stay.
	Keeps bool `json:"keeps,omitzero"`
	// Restores is true if the deployer creates an entry again that is missing.
	Restores bool `json:"restores,omitzero"`
	// Remote is true if the entries are in another cluster.
	Remote bool `json:"remote,omitzero"`
	// Account is the ServiceAccount, in the namespace of the object, as which the deployer deletes. It
	// deletes nothing if that is gone. Empty for its own.
	Account string `json:"account,omitzero"`
	// Propagation is the propagation policy of the deletes. Empty for the deployer's default.
	Propagation string `json:"propagation,omitzero"`
	// Record is the record of the Helm release that has the manifest, if Entries lacks what is in it. Its
	// kind is empty otherwise. A name that ends with .v stands for the newest record, which is an entry, too.
	Record Coordinates `json:"record,omitzero"`
	// Unread is why Entries may lack some, for people. Empty if they are complete.
	Unread string `json:"unread,omitzero"`
}

// InventoryEntry is an object that a deployer has applied. It has no version: the deployer deletes
// whatever has these coordinates.
type InventoryEntry struct {
	Coordinates
	// UID is that of the snapshot to which a content refers. Empty for any object.
	UID types.UID `json:"uid,omitzero"`
	// Version is the API version, without its group, in which the deployer reads the object. Empty if it
	// reads any.
	Version string `json:"version,omitzero"`
	// Confirm is true if the deployer deletes nothing as long as the object exists and no person has
	// confirmed that.
	Confirm bool `json:"confirm,omitzero"`
}

// Lists reports whether an entry has the coordinates.
func (f *InventoryFacts) Lists(at Coordinates) bool {
	return slices.ContainsFunc(f.Entries, func(e InventoryEntry) bool { return e.Coordinates == at })
}

func (f *InventoryFacts) store(s *StoredFacts) { s.Inventory = f }

// WithRecord returns the facts with what the record of the Helm release has: what Helm deletes of it.
func (f *InventoryFacts) WithRecord(r *HelmReleaseFacts) *InventoryFacts {
	c := *f
	c.Record, c.Unread = Coordinates{}, ""
	c.Entries = slices.Clone(f.Entries)
	if newest := f.Record; f.LacksNewest() {
		newest.Name += strconv.FormatInt(r.Revision, 10)
		c.Entries, c.Unread = append(c.Entries, InventoryEntry{Coordinates: newest}), UnlistedJob
	}
	for i := range r.Objects {
		if o := &r.Objects[i]; !o.Keeps {
			c.Entries = append(c.Entries, InventoryEntry{Coordinates: o.Coordinates(r.Namespace)})
		}
		if r.Objects[i].Kind == CRD.Kind {
			c.Unread = UnclearCRDs
		}
	}
	return &c
}

// LacksNewest reports whether Record stands for the newest record of a release.
func (f *InventoryFacts) LacksNewest() bool { return strings.HasSuffix(f.Record.Name, ".v") }

// UnlistedJob is why the inventory of a HelmChart of K3s lacks some.
const UnlistedJob = "the Job with which it runs Helm, and the account and Secrets of that, are not listed here"

// UnclearCRDs is why the inventory of a HelmRelease with CRDs may lack some.
const UnclearCRDs = "it lists CRDs, and Helm deletes only those that are not in the directory crds of the chart"

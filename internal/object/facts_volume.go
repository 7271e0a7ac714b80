package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Volume returns nil unless the object is a PersistentVolume and the dump has its spec or status.
func (o *Object) Volume() *PVFacts {
	f, _ := o.lifecycle().Facts.(*PVFacts)
	return f
}

// PVFacts are the fields that the deletion of a PersistentVolume depends on (spec §7.1).
type PVFacts struct {
	// Phase is empty if the dump lacks it.
	Phase string `json:"phase,omitzero"`
	// ClaimNamespace, ClaimName and ClaimUID are spec.claimRef; empty without one.
	ClaimNamespace string    `json:"s,omitzero"`
	ClaimName      string    `json:"n,omitzero"`
	ClaimUID       types.UID `json:"u,omitzero"`
	// ReclaimPolicy is the spec's; empty if the dump lacks it.
	ReclaimPolicy string `json:"reclaim,omitzero"`
	// Provisioner is the driver that created the storage, MigratedTo the driver that has replaced
	// it. Both are annotations and may be empty.
	Provisioner string `json:"by,omitzero"`
	MigratedTo  string `json:"to,omitzero"`
	// CSI is true if a CSI driver serves the volume.
	CSI bool `json:"csi,omitzero"`
}

// The annotations that name the driver that deletes the storage of a PersistentVolume.
//
// Upstream: component-helpers/storage/volume/pv_helpers.go AnnDynamicallyProvisioned,
// AnnMigratedTo.
const (
	ProvisionerAnnotation = "pv.kubernetes.io/provisioned-by"
	MigratedToAnnotation  = "pv.kubernetes.io/migrated-to"
)

// Bound reports whether the volume is bound to a claim.
func (v *PVFacts) Bound() bool { return v.Phase == "Bound" }

func (v *PVFacts) store(s *StoredFacts) { s.PV = v }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (v *PVFacts) Share(text func(string) string) {
	for _, s := range []*string{&v.Phase, &v.ClaimNamespace, &v.ReclaimPolicy, &v.Provisioner, &v.MigratedTo} {
		*s = text(*s)
	}
}

func (v *PVFacts) equal(x Facts) bool {
	y, ok := x.(*PVFacts)
	return ok && *v == *y
}

// StatefulSet returns nil unless the object is a StatefulSet and the dump has its spec.
func (o *Object) StatefulSet() *StatefulSetFacts {
	f, _ := o.lifecycle().Facts.(*StatefulSetFacts)
	return f
}

// StatefulSetFacts are the fields of a StatefulSet that tell what its deletion leaves behind.
type StatefulSetFacts struct {
	// ClaimTemplates are the names of spec.volumeClaimTemplates.
	ClaimTemplates []string `json:"claims,omitempty"`
}

func (s *StatefulSetFacts) store(to *StoredFacts) { to.StatefulSet = s }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (s *StatefulSetFacts) Share(text func(string) string) {
	for i := range s.ClaimTemplates {
		s.ClaimTemplates[i] = text(s.ClaimTemplates[i])
	}
}

func (s *StatefulSetFacts) equal(x Facts) bool {
	y, ok := x.(*StatefulSetFacts)
	return ok && slices.Equal(s.ClaimTemplates, y.ClaimTemplates)
}

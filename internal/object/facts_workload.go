package object

import (
	"encoding/binary"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// Pod returns nil unless the object is a pod and the dump has its spec or status.
func (o *Object) Pod() *PodFacts { return factsAs[*PodFacts](o) }

// PodFacts are the fields that the deletion of a pod depends on (spec §2.9).
type PodFacts struct {
	// NodeName is empty for an unscheduled pod.
	NodeName string `json:"node,omitzero"`
	Phase    string `json:"phase,omitzero"`
	// TerminationGracePeriod is the spec's, in seconds; nil if absent.
	TerminationGracePeriod *int64 `json:"grace,omitzero"`
	// Mirror marks the mirror pod of a static pod.
	Mirror bool `json:"mirror,omitzero"`
	// VolumesKnown is true if the dump has the volumes: then Claims is complete, and a pod without
	// NodeName is unscheduled.
	VolumesKnown bool `json:"volumes,omitzero"`
	// Claims are the PersistentVolumeClaims that the volumes use, in order.
	Claims []Claim `json:"claims,omitempty"`
}

// Claim is a PersistentVolumeClaim that a volume of a pod uses, in the pod's namespace.
type Claim struct {
	Name string `json:"n"`
	// Ephemeral is true for a claim that is created for a generic ephemeral volume and named
	// `<pod>-<volume>`. It belongs to the pod only if the pod controls it.
	Ephemeral bool `json:"e,omitzero"`
}

// Finished reports whether the pod has terminated.
func (p *PodFacts) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

func (p *PodFacts) store(s *StoredFacts) { s.Pod = p }

// Of returns the facts for the pod with that name. It turns the names of ephemeral volumes in
// Claims into those of their claims.
//
// Upstream: component-helpers/storage/ephemeral/ephemeral.go VolumeClaimName.
func (p PodFacts) Of(pod string) *PodFacts {
	for i := range p.Claims {
		if c := &p.Claims[i]; c.Ephemeral {
			c.Name = pod + "-" + c.Name
		}
	}
	return &p
}

// AppendKey appends a key that is equal for pods with equal facts, so that they can share them. It
// returns nil for a pod with claims: its facts are not shared.
func (p *PodFacts) AppendKey(key []byte) []byte {
	if len(p.Claims) > 0 {
		return nil
	}
	for _, s := range []string{p.NodeName, p.Phase} {
		key = append(binary.AppendUvarint(key, uint64(len(s))), s...)
	}
	for _, b := range []bool{p.Mirror, p.VolumesKnown, p.TerminationGracePeriod != nil} {
		key = strconv.AppendBool(key, b)
	}
	if p.TerminationGracePeriod != nil {
		key = binary.AppendVarint(key, *p.TerminationGracePeriod)
	}
	return key
}

// Job returns nil unless the object is a Job and the dump has its spec.
func (o *Object) Job() *JobFacts { return factsAs[*JobFacts](o) }

// JobFacts are the fields of a Job that decide about the tracking finalizer of its pods
// (spec §7.1), whether it replaces them, and when it is deleted.
type JobFacts struct {
	// Finished is true if the Job has the condition Complete or Failed. FinishedAt is when it got that, in
	// seconds since 1970; 0 if unknown.
	Finished   bool  `json:"finished,omitzero"`
	FinishedAt int64 `json:"at,omitzero"`
	// TTL is spec.ttlSecondsAfterFinished; nil if absent.
	TTL *int64 `json:"ttl,omitzero"`
	// ManagedBy is spec.managedBy; "" means the Job controller.
	ManagedBy string `json:"managedBy,omitzero"`
	// NoRetry is true if the Job is known to fail with one more failed pod: its backoffLimit is used up.
	NoRetry bool `json:"noRetry,omitzero"`
}

// builtInManager is the Job controller's name in spec.managedBy.
//
// Upstream: api/batch/v1/types.go JobControllerName.
const builtInManager = "kubernetes.io/job-controller"

// Elsewhere reports whether a controller other than Kubernetes' own manages the Job.
func (j *JobFacts) Elsewhere() bool { return j.ManagedBy != "" && j.ManagedBy != builtInManager }

func (j *JobFacts) store(s *StoredFacts) { s.Job = j }

// Volume returns nil unless the object is a PersistentVolume and the dump has its spec or status.
func (o *Object) Volume() *PVFacts { return factsAs[*PVFacts](o) }

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

// StatefulSet returns nil unless the object is a StatefulSet and the dump has its spec.
func (o *Object) StatefulSet() *StatefulSetFacts { return factsAs[*StatefulSetFacts](o) }

// StatefulSetFacts are the fields of a StatefulSet that tell what its deletion leaves behind.
type StatefulSetFacts struct {
	// ClaimTemplates are the names of spec.volumeClaimTemplates.
	ClaimTemplates []string `json:"claims,omitempty"`
	// DeletesClaims is true if spec.persistentVolumeClaimRetentionPolicy.whenDeleted is Delete.
	DeletesClaims bool `json:"deletes,omitzero"`
}

func (s *StatefulSetFacts) store(to *StoredFacts) { to.StatefulSet = s }

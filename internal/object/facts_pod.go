package object

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Pod returns nil unless the object is a pod and the dump has its spec or status.
func (o *Object) Pod() *PodFacts {
	f, _ := o.lifecycle().Facts.(*PodFacts)
	return f
}

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

// Share replaces strings that repeat over many objects by text(s), for interning.
func (p *PodFacts) Share(text func(string) string) {
	p.NodeName, p.Phase = text(p.NodeName), text(p.Phase)
}

func (p *PodFacts) equal(x Facts) bool {
	y, ok := x.(*PodFacts)
	return ok && p.NodeName == y.NodeName && p.Phase == y.Phase && p.Mirror == y.Mirror &&
		p.VolumesKnown == y.VolumesKnown && slices.Equal(p.Claims, y.Claims) &&
		equalPointees(p.TerminationGracePeriod, y.TerminationGracePeriod)
}

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

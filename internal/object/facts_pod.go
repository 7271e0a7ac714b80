package object

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Pod is nil unless the object is a pod whose dump showed spec or status.
func (o *Object) Pod() *PodFacts {
	f, _ := o.lifecycle().Facts.(*PodFacts)
	return f
}

// PodFacts are what the deletion of a pod depends on (spec §2.9).
type PodFacts struct {
	// NodeName is empty for a pod that is not scheduled.
	NodeName string `json:"node,omitzero"`
	Phase    string `json:"phase,omitzero"`
	// TerminationGracePeriod is the spec's, in seconds; nil when absent.
	TerminationGracePeriod *int64 `json:"grace,omitzero"`
	// Mirror marks the mirror pod of a static pod.
	Mirror bool `json:"mirror,omitzero"`
	// VolumesKnown tells that the dump showed the volumes, so that Claims are all
	// there are, and a pod without NodeName is not scheduled.
	VolumesKnown bool `json:"volumes,omitzero"`
	// Claims are the PersistentVolumeClaims that the volumes use, in their order.
	Claims []Claim `json:"claims,omitempty"`
}

// Claim is a PersistentVolumeClaim in the namespace of a pod that a volume of the
// pod uses.
type Claim struct {
	Name string `json:"n"`
	// Ephemeral marks the claim that is made for a generic ephemeral volume, and
	// named `<pod>-<volume>`. It is the pod's only if the pod controls it.
	Ephemeral bool `json:"e,omitzero"`
}

// Finished reports whether the pod has run to its end.
func (p *PodFacts) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

func (p *PodFacts) store(s *StoredFacts) { s.Pod = p }

// Share replaces strings that repeat over many objects by what text returns for them.
func (p *PodFacts) Share(text func(string) string) {
	p.NodeName, p.Phase = text(p.NodeName), text(p.Phase)
}

func (p *PodFacts) equal(x Facts) bool {
	y, ok := x.(*PodFacts)
	return ok && p.NodeName == y.NodeName && p.Phase == y.Phase && p.Mirror == y.Mirror &&
		p.VolumesKnown == y.VolumesKnown && slices.Equal(p.Claims, y.Claims) &&
		equalPointees(p.TerminationGracePeriod, y.TerminationGracePeriod)
}

// Of are the facts as those of the pod with that name, after which the claims of its
// ephemeral volumes are named: they had the names of the volumes.
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

// AppendKey appends what two pods have in common that may share their facts. Nil: the pod
// has claims, and its facts are its own.
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

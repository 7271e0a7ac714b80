package kube

import (
	"encoding/binary"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// podParts are the parts of a pod's message that are kept beside its metadata.
type podParts struct {
	node, phase []byte
	grace       int64
	hasGrace    bool
	mirror      bool
	// whole tells that there was a spec, so that claims are all there are.
	whole  bool
	claims []claimParts
}

// claimParts is a claim that a volume uses; an ephemeral one has the name of the
// volume.
type claimParts struct {
	name      []byte
	ephemeral bool
}

func (p *podParts) reset() { *p = podParts{claims: p.claims[:0]} }

// spec reads a PodSpec. The numbers are those of core/v1 generated.proto.
func (p *podParts) spec(message []byte) error {
	return each(message, func(tag uint64, text []byte, number uint64) error {
		switch tag {
		case bytesTag(1):
			return p.volume(text)
		case varintTag(4):
			p.grace, p.hasGrace = int64(number), true
		case bytesTag(10):
			p.node = text
		}
		return nil
	})
}

// volume reads a Volume and its source.
func (p *podParts) volume(message []byte) error {
	var name, claim []byte
	ephemeral := false
	source := func(tag uint64, text []byte, _ uint64) (err error) {
		switch tag {
		case bytesTag(10):
			claim, err = firstField(text)
		case bytesTag(29):
			ephemeral = true
		}
		return err
	}
	err := each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case bytesTag(1):
			name = text
		case bytesTag(2):
			return each(text, source)
		}
		return nil
	})
	if len(claim) > 0 {
		p.claims = append(p.claims, claimParts{name: claim})
	}
	if ephemeral {
		p.claims = append(p.claims, claimParts{name: name, ephemeral: true})
	}
	return err
}

// status reads a PodStatus: its first field is the phase.
func (p *podParts) status(message []byte) (err error) {
	p.phase, err = firstField(message)
	return err
}

// firstField is the field of bytes with number 1; empty if there is none.
func firstField(message []byte) (field []byte, err error) {
	err = each(message, func(tag uint64, text []byte, _ uint64) error {
		if tag == bytesTag(1) {
			field = text
		}
		return nil
	})
	return field, err
}

// pod adds what m has read of a pod to what the object shares with others; rare may
// be nil. Pods that are alike share everything.
func (s *shared) pod(m *metadata, rare *object.Rare) *object.Rare {
	p := m.pod
	alike := len(p.claims) == 0 && m.deleted == 0 && !m.hasGrace
	from := len(m.scratch)
	if alike {
		// No list of finalizers begins like this.
		m.scratch = append(append(append(append(m.scratch, 0xff), p.node...), 0), p.phase...)
		m.scratch = append(m.scratch, 0, bit(p.mirror), bit(p.whole), bit(p.hasGrace), byte(m.protection))
		m.scratch = append(strconv.AppendInt(m.scratch, p.grace, 10), 0)
		m.scratch = binary.BigEndian.AppendUint32(m.scratch, m.revision)
		for _, f := range m.finalizers {
			m.scratch = append(append(m.scratch, f...), 0)
		}
		if have, ok := s.rares[string(m.scratch[from:])]; ok {
			return have
		}
	}
	key := string(m.scratch[from:])
	own := &object.Rare{}
	if rare != nil {
		*own = *rare
	}
	pod := &object.PodFacts{NodeName: s.strings.Bytes(p.node), Phase: s.strings.Bytes(p.phase), Mirror: p.mirror, VolumesKnown: p.whole}
	if p.hasGrace {
		pod.TerminationGracePeriod = new(p.grace)
	}
	for _, c := range p.claims {
		claim := object.Claim{Name: string(c.name), Ephemeral: c.ephemeral}
		if c.ephemeral {
			claim.Name = string(m.name) + "-" + claim.Name
		}
		pod.Claims = append(pod.Claims, claim)
	}
	own.Facts = pod
	if alike {
		s.keep(key, own)
	}
	return own
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

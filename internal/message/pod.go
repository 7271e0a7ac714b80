package message

import (
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// podParts are the kept parts of a pod's spec and status.
type podParts struct {
	strings *manifest.Interner
	facts   object.PodFacts
	key     []byte
}

func (p *podParts) reset() { p.facts = object.PodFacts{} }

// spec reads a PodSpec. The numbers are those of core/v1 generated.proto.
func (p *podParts) spec(message []byte) error {
	p.facts.VolumesKnown = true
	return Each(message, func(tag uint64, text []byte, number uint64) error {
		switch tag {
		case BytesTag(1):
			return p.volume(text)
		case VarintTag(4):
			p.facts.TerminationGracePeriod = p.strings.Number(int64(number))
		case BytesTag(10):
			p.facts.NodeName = p.strings.Bytes(text)
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
		case BytesTag(10):
			claim, err = First(text)
		case BytesTag(29):
			ephemeral = true
		}
		return err
	}
	err := Each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case BytesTag(1):
			name = text
		case BytesTag(2):
			return Each(text, source)
		}
		return nil
	})
	if len(claim) > 0 {
		p.facts.Claims = append(p.facts.Claims, object.Claim{Name: string(claim)})
	}
	if ephemeral {
		p.facts.Claims = append(p.facts.Claims, object.Claim{Name: string(name), Ephemeral: true})
	}
	return err
}

// status reads a PodStatus: its first field is the phase.
func (p *podParts) status(message []byte) error {
	phase, err := First(message)
	p.facts.Phase = p.strings.Bytes(phase)
	return err
}

// add adds the facts of the pod to its Lifecycle.
func (p *podParts) add(life *object.Lifecycle, name []byte) *object.Lifecycle {
	key := p.facts.AppendKey(p.key[:0])
	if key != nil {
		p.key = key
	}
	return p.strings.WithFacts(life, key, func() object.Facts { return p.facts.Of(string(name)) })
}

package snapshot

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// lifecycleOf reads the rest of the line. Objects with equal rests share the Lifecycle, except
// kinds with mostly unique ones.
func (p *plainObjects) lifecycleOf(l *plainLine) *object.Lifecycle {
	if len(l.rest) == 1 && l.rest[0] == '}' {
		return nil
	}
	text := l.rest
	if shared, ok := p.lifecycles[string(text)]; ok {
		return shared
	}
	life, alone := p.lifecycle(l)
	l.leave('}')
	if l.odd || len(l.rest) > 0 {
		l.odd = true
		return nil
	}
	if !alone && len(text) <= longText {
		if len(p.lifecycles) == mostLifecycles {
			clear(p.lifecycles)
		}
		p.lifecycles[string(text)] = life
	}
	return life
}

// lifecycle reads the members of a Lifecycle, which are never written when zero. alone is true if
// it is mostly unique.
func (p *plainObjects) lifecycle(l *plainLine) (life *object.Lifecycle, alone bool) {
	life = &object.Lifecycle{}
	if l.member(`"f":`) {
		life.Finalizers = p.strings(l)
	}
	if l.member(`"d":`) {
		life.DeletionTimestamp, alone = l.number(math.MaxInt64), true
		l.odd = l.odd || life.DeletionTimestamp == 0
	}
	if l.member(`"p":`) {
		life.GracePeriod, alone = p.intern.Number(l.number(math.MaxInt64)), true
	}
	if l.member(`"k":`) {
		life.Protection = object.Protection(l.size(math.MaxUint16))
		l.odd = l.odd || life.Protection == 0
	}
	if l.member(`"r":`) {
		life.Revision = uint32(l.size(math.MaxUint32))
		l.odd = l.odd || life.Revision == 0
	}
	if l.member(`"a":`) {
		life.Tracker = p.shared(l)
		l.odd = l.odd || life.Tracker == ""
	}
	if l.odd || len(l.rest) > 0 && l.rest[0] == '}' {
		return life, alone
	}
	facts, unlike := p.facts(l)
	if facts == nil {
		l.odd = true
		return nil, true
	}
	life.Facts = facts
	return life, alone || unlike
}

// facts reads the facts of kinds with many objects per cluster. It returns nil for other kinds: the
// caller marks their lines as odd, and the JSON decoder reads them. unlike is true for facts that
// are mostly unique.
func (p *plainObjects) facts(l *plainLine) (facts object.Facts, unlike bool) {
	switch {
	case l.member(`"pod":`):
		f := p.pod(l)
		return f, len(f.Claims) > 0
	case l.member(`"ns":`):
		return p.namespaceFacts(l), false
	case l.member(`"job":`):
		return p.job(l), false
	case l.member(`"pv":`):
		return p.volume(l), true
	case l.member(`"rc":`):
		return p.resourceClaim(l), true
	case l.member(`"ip":`):
		return p.address(l), true
	case l.member(`"token":`):
		return p.token(l), true
	case l.member(`"sts":`):
		return p.statefulSet(l), false
	case l.member(`"sa":`):
		return p.account(l), true
	case l.member(`"role":`):
		return p.clusterRole(l), true
	}
	return nil, false
}

// shared reads a string that repeats over many objects, own one that doesn't.
func (p *plainObjects) shared(l *plainLine) string { return p.intern.Bytes(l.text()) }
func (p *plainObjects) own(l *plainLine) string    { return p.keep(l.text()) }

// strings reads a non-empty list.
func (p *plainObjects) strings(l *plainLine) []string {
	var few [8]string
	list := few[:0]
	l.enter('[')
	for l.element() {
		list = append(list, p.shared(l))
	}
	l.odd = l.odd || len(list) == 0
	return slices.Clone(list)
}

func (p *plainObjects) pod(l *plainLine) *object.PodFacts {
	f := &object.PodFacts{}
	l.enter('{')
	if l.member(`"node":`) {
		f.NodeName = p.shared(l)
	}
	if l.member(`"phase":`) {
		f.Phase = p.shared(l)
	}
	if l.member(`"grace":`) {
		f.TerminationGracePeriod = p.intern.Number(l.number(math.MaxInt64))
	}
	f.Mirror = l.member(`"mirror":`) && l.yes()
	f.VolumesKnown = l.member(`"volumes":`) && l.yes()
	if l.member(`"claims":`) {
		l.enter('[')
		for l.element() {
			f.Claims = append(f.Claims, p.claim(l))
		}
		l.odd = l.odd || len(f.Claims) == 0
	}
	l.leave('}')
	return f
}

func (p *plainObjects) claim(l *plainLine) (c object.Claim) {
	l.enter('{')
	if l.member(`"n":`) {
		c.Name = p.own(l)
	}
	c.Ephemeral = l.member(`"e":`) && l.yes()
	l.leave('}')
	return c
}

func (p *plainObjects) namespaceFacts(l *plainLine) *object.NamespaceFacts {
	f := &object.NamespaceFacts{}
	l.enter('{')
	if l.member(`"phase":`) {
		f.Phase = p.shared(l)
	}
	if l.member(`"finalizers":`) {
		f.Finalizers = p.strings(l)
	}
	l.leave('}')
	return f
}

func (p *plainObjects) job(l *plainLine) *object.JobFacts {
	f := &object.JobFacts{}
	l.enter('{')
	f.Finished = l.member(`"finished":`) && l.yes()
	if l.member(`"managedBy":`) {
		f.ManagedBy = p.shared(l)
	}
	l.leave('}')
	return f
}

func (p *plainObjects) volume(l *plainLine) *object.PVFacts {
	f := &object.PVFacts{}
	l.enter('{')
	if l.member(`"phase":`) {
		f.Phase = p.shared(l)
	}
	if l.member(`"s":`) {
		f.ClaimNamespace = p.shared(l)
	}
	if l.member(`"n":`) {
		f.ClaimName = p.own(l)
	}
	if l.member(`"u":`) {
		f.ClaimUID = types.UID(p.own(l))
	}
	if l.member(`"reclaim":`) {
		f.ReclaimPolicy = p.shared(l)
	}
	if l.member(`"by":`) {
		f.Provisioner = p.shared(l)
	}
	if l.member(`"to":`) {
		f.MigratedTo = p.shared(l)
	}
	f.CSI = l.member(`"csi":`) && l.yes()
	l.leave('}')
	return f
}

func (p *plainObjects) resourceClaim(l *plainLine) *object.ResourceClaimFacts {
	f := &object.ResourceClaimFacts{}
	l.enter('{')
	if l.member(`"for":`) {
		l.enter('[')
		for l.element() {
			f.Reserved = append(f.Reserved, p.reservation(l))
		}
		l.odd = l.odd || len(f.Reserved) == 0
	}
	l.leave('}')
	return f
}

func (p *plainObjects) reservation(l *plainLine) (r object.Reservation) {
	l.enter('{')
	if l.member(`"g":`) {
		r.Group = p.shared(l)
	}
	if l.member(`"r":`) {
		r.Resource = p.shared(l)
	}
	if l.member(`"n":`) {
		r.Name = p.own(l)
	}
	if l.member(`"u":`) {
		r.UID = types.UID(p.own(l))
	}
	l.leave('}')
	return r
}

func (p *plainObjects) address(l *plainLine) *object.IPAddressFacts {
	f := &object.IPAddressFacts{}
	l.enter('{')
	if l.member(`"g":`) {
		f.Group = p.shared(l)
	}
	if l.member(`"r":`) {
		f.Resource = p.shared(l)
	}
	if l.member(`"s":`) {
		f.Namespace = p.shared(l)
	}
	if l.member(`"n":`) {
		f.Name = p.own(l)
	}
	l.leave('}')
	return f
}

func (p *plainObjects) token(l *plainLine) *object.Token {
	f := &object.Token{}
	l.enter('{')
	if l.member(`"n":`) {
		f.Account = p.own(l)
	}
	if l.member(`"u":`) {
		f.AccountUID = types.UID(p.own(l))
	}
	f.Sure = l.member(`"sure":`) && l.yes()
	l.leave('}')
	return f
}

func (p *plainObjects) statefulSet(l *plainLine) *object.StatefulSetFacts {
	f := &object.StatefulSetFacts{}
	l.enter('{')
	if l.member(`"claims":`) {
		f.ClaimTemplates = p.strings(l)
	}
	l.leave('}')
	return f
}

func (p *plainObjects) account(l *plainLine) *object.ServiceAccountFacts {
	f := &object.ServiceAccountFacts{}
	l.enter('{')
	if l.member(`"secrets":`) {
		f.Secrets = p.strings(l)
	}
	l.leave('}')
	return f
}

func (p *plainObjects) clusterRole(l *plainLine) *object.ClusterRoleFacts {
	f := &object.ClusterRoleFacts{}
	l.enter('{')
	if l.member(`"rules":`) {
		f.Rules = p.strings(l)
	}
	if l.member(`"of":`) {
		f.Aggregates = p.strings(l)
	}
	l.leave('}')
	return f
}

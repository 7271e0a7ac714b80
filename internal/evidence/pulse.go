package evidence

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// dumpTakes is for how many seconds before its time a dump may have read a lease.
const dumpTakes = 240

// pulseOf is what a lease says at the time of the question.
func (s *Surroundings) pulseOf(l *Lease) object.Pulse {
	return object.PulseOf(l.Holder, l.Renewed, l.Duration, s.now, s.slack())
}

// slack is for how many seconds before the time of the question a lease may have been read.
func (s *Surroundings) slack() int64 {
	if s.seen.Live {
		return 0
	}
	return dumpTakes
}

// ManagerLease is the lease of kube-controller-manager, nil if it was not seen, and for how many
// seconds before the time of the question it may have been read.
func (s *Surroundings) ManagerLease() (l *Lease, slack int64) {
	if s.managerLease == nil {
		return nil, 0
	}
	return s.managerLease, s.slack()
}

func leaseText(l *Lease, p object.Pulse) string {
	verb := "was renewed"
	if p == object.PulseStopped {
		verb = "has expired: it was renewed last"
	}
	return fmt.Sprintf("lease %s in namespace %s, held by %q, %s%s", l.Name, l.Namespace, l.Holder, verb, stampText(l.Renewed))
}

// leases looks for the lease of the controller that removes it: held by one of the suspects, or named
// like the program, the API group of the object, or the domain of the finalizer.
func (s *search) leases() object.Pulse {
	if s.seen == nil {
		return object.PulseUnclear
	}
	found := object.PulseUnclear
	for n := range s.seen.Leases {
		l := &s.seen.Leases[n]
		if !s.owns(l) {
			continue
		}
		p := s.pulseOf(l)
		about := report.RefOf(object.Lease.Ref(l.Namespace, l.Name))
		switch p {
		case object.PulseBeats:
			s.found.Proof.Add(reason.LeaseRenewed, &about, leaseText(l, p))
			found = object.PulseBeats
		case object.PulseStopped:
			s.found.Proof.Add(reason.LeaseExpired, &about, leaseText(l, p))
			if found == object.PulseUnclear {
				found = object.PulseStopped
			}
		case object.PulseUnclear:
		}
	}
	return found
}

func (s *search) owns(l *Lease) bool {
	if l.Namespace == "kube-node-lease" {
		return false
	}
	for _, p := range s.suspects {
		if p.Ref.Namespace == l.Namespace && strings.HasPrefix(l.Holder, p.Ref.Name) {
			return true
		}
	}
	for _, w := range s.asleep {
		if w.Ref.Namespace == l.Namespace && strings.HasPrefix(l.Holder, w.Ref.Name+"-") {
			return true
		}
	}
	domain, _, _ := strings.Cut(s.name, "/")
	group := object.GroupOf(s.o.APIVersion)
	about := func(word string) bool {
		return strings.Contains(word, ".") && (l.Name == word || strings.HasSuffix(l.Name, "."+word) || strings.HasPrefix(l.Name, word))
	}
	return about(domain) || about(group) || s.program != "" && !isCommon(s.program) && (l.Name == s.program || strings.HasPrefix(l.Holder, s.program+"-"))
}

// Manager reports whether kube-controller-manager works, for which the object waits.
func (s *Surroundings) Manager(o *object.Object) Judgement {
	j := Judgement{Name: "kube-controller-manager"}
	j.State = s.managerVerdict(o, &j.Proof)
	return j
}

// ManagerRuns reports whether the lease of kube-controller-manager was seen to be renewed.
func (s *Surroundings) ManagerRuns() bool {
	return s.managerVerdict(&object.Object{}, &Proofs{}) == report.FinalizerControllerAlive
}

// ManagerStands is what the lease of kube-controller-manager says at the time of the question: Alive,
// Gone, or Unknown if there is none: a server has said so, or a dump has the other leases of its
// namespace. It is empty where that was not seen.
func (s *Surroundings) ManagerStands() report.ControllerVerdict {
	if s.stands == nil {
		state := s.managerVerdict(&object.Object{}, &Proofs{})
		if state == report.FinalizerControllerUnknown && !s.managerless {
			state = ""
		}
		s.stands = &state
	}
	return *s.stands
}

// managerVerdict reports whether kube-controller-manager works, in which the collector
// and the other controllers of Kubernetes run. Its lease is the proof.
func (s *Surroundings) managerVerdict(o *object.Object, proof *Proofs) report.ControllerVerdict {
	name := object.ManagerLease.Name
	if l := s.managerLease; l != nil {
		about := report.RefOf(object.Lease.Ref(l.Namespace, l.Name))
		switch p := s.pulseOf(l); p {
		case object.PulseBeats:
			proof.Add(reason.LeaseRenewed, &about, leaseText(l, p))
			if s.Age(o) > long {
				return report.FinalizerControllerSlow
			}
			return report.FinalizerControllerAlive
		case object.PulseStopped:
			proof.Add(reason.LeaseExpired, &about, leaseText(l, p))
			unread := s.unread()
			for _, text := range unread {
				proof.Add(reason.NotRead, nil, text)
			}
			if len(unread) > 0 {
				return report.FinalizerControllerUnknown
			}
			return report.FinalizerControllerGone
		case object.PulseUnclear:
			proof.Add(reason.LeaseNotFound, &about, "what the lease of "+name+" says is not clear")
			return report.FinalizerControllerUnknown
		}
	}
	if sight := s.seen.Sight(Leases, object.ManagerLease.Namespace); !sight.Whole && !s.managerless {
		proof.Add(reason.NotRead, nil, "leases in kube-system: "+sight.Why)
	} else {
		proof.Add(reason.LeaseNotFound, nil, "there is no lease of "+name+": it may work without one")
	}
	return report.FinalizerControllerUnknown
}

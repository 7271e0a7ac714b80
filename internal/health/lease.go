package health

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Lease is the leader election lock of a controller, or the heartbeat of a node.
type Lease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Holder    string `json:"holder,omitzero"`
	// Renewed is the time of the last renewal, in seconds since 1970. 0 if unknown. The lease
	// expires Duration seconds later.
	Renewed  int64 `json:"renewed,omitzero"`
	Duration int64 `json:"duration,omitzero"`
}

// leaseBody has the fields that are read from a Lease.
type leaseBody struct {
	Spec struct {
		Holder   string    `json:"holderIdentity"`
		Renewed  timestamp `json:"renewTime"`
		Duration int64     `json:"leaseDurationSeconds"`
	} `json:"spec"`
}

func (s *Shown) takeLease(b *body, d *leaseBody) {
	s.Leases = append(s.Leases, Lease{b.Metadata.Namespace, b.Metadata.Name, d.Spec.Holder, d.Spec.Renewed.seconds, d.Spec.Duration})
}

// maxDumpDuration is the longest time, in seconds, between reading a lease and the time of its
// dump.
const maxDumpDuration = 240

// holderState returns the state of a lease's holder at the time of the question.
func (s *Assessment) holderState(l *Lease) object.HolderState {
	return object.HolderStateOf(l.Holder, l.Renewed, l.Duration, s.now, s.maxReadDelay())
}

// maxReadDelay returns the maximum number of seconds between the reading of a lease and the time of
// the question.
func (s *Assessment) maxReadDelay() int64 {
	if s.evidence.Live {
		return 0
	}
	return maxDumpDuration
}

// ManagerLease returns the lease of kube-controller-manager, and the maxReadDelay of its reading.
// The lease is nil if it was not read.
func (s *Assessment) ManagerLease() (l *Lease, slack int64) {
	if s.managerLease == nil {
		return nil, 0
	}
	return s.managerLease, s.maxReadDelay()
}

// ManagerLeaseExpired reports whether kube-controller-manager is known not to have renewed its lease.
func (s *Assessment) ManagerLeaseExpired() bool {
	return s.managerLease != nil && s.holderState(s.managerLease) == object.HolderGone
}

func leaseText(l *Lease, p object.HolderState) string {
	verb := "was renewed"
	if p == object.HolderGone {
		verb = "has expired: it was renewed last"
	}
	return fmt.Sprintf("lease %s in namespace %s, held by %q, %s%s", l.Name, l.Namespace, l.Holder, verb, stampText(l.Renewed))
}

// judgeLeases returns the state of the controller's leases: those that one of the suspects holds,
// and those named like the program, the API group of the object, or the domain of the finalizer.
func (s *search) judgeLeases() object.HolderState {
	if s.evidence == nil {
		return object.HolderUnclear
	}
	found := object.HolderUnclear
	for n := range s.evidence.Leases {
		l := &s.evidence.Leases[n]
		if !s.ownsLease(l) {
			continue
		}
		p := s.holderState(l)
		about := object.Lease.Ref(l.Namespace, l.Name)
		switch p {
		case object.HolderAlive:
			s.result.Proof.Add(reason.LeaseRenewed, &about, leaseText(l, p))
			found = object.HolderAlive
		case object.HolderGone:
			s.result.Proof.Add(reason.LeaseExpired, &about, leaseText(l, p))
			if found == object.HolderUnclear {
				found = object.HolderGone
			}
		case object.HolderUnclear:
		}
	}
	return found
}

func (s *search) ownsLease(l *Lease) bool {
	if l.Namespace == "kube-node-lease" {
		return false
	}
	for _, p := range s.suspects {
		if p.Ref.Namespace == l.Namespace && strings.HasPrefix(l.Holder, p.Ref.Name) {
			return true
		}
	}
	for _, w := range s.scaledToZero {
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

// Manager judges kube-controller-manager for an object that waits for it.
func (s *Assessment) Manager(o *object.Object) Judgement {
	j := Judgement{Name: "kube-controller-manager"}
	j.State = s.managerVerdict(o, &j.Proof)
	return j
}

// ManagerRuns reports whether the lease of kube-controller-manager is known to be renewed.
func (s *Assessment) ManagerRuns() bool {
	return s.managerVerdict(&object.Object{}, &Proofs{}) == report.FinalizerControllerAlive
}

// ManagerState returns the state of kube-controller-manager by its lease at the time of the
// question: Alive, Gone, or Unknown if there is no lease, or if it has expired and not all programs
// were read. The lease is known to be missing if a server says so, or if a dump has other leases of
// its namespace. The result is empty if the lease was not read.
func (s *Assessment) ManagerState() report.ControllerVerdict {
	if s.managerState == nil {
		state := s.managerVerdict(&object.Object{}, &Proofs{})
		if state == report.FinalizerControllerUnknown && !s.managerLeaseAbsent && !s.ManagerLeaseExpired() {
			state = ""
		}
		s.managerState = &state
	}
	return *s.managerState
}

// managerVerdict reports whether kube-controller-manager works, judged by its lease. The collector
// and the other built-in controllers run in it.
func (s *Assessment) managerVerdict(o *object.Object, proof *Proofs) report.ControllerVerdict {
	name := object.ManagerLease.Name
	if l := s.managerLease; l != nil {
		about := object.Lease.Ref(l.Namespace, l.Name)
		switch p := s.holderState(l); p {
		case object.HolderAlive:
			proof.Add(reason.LeaseRenewed, &about, leaseText(l, p))
			if s.Age(o) > slowAfter {
				return report.FinalizerControllerSlow
			}
			return report.FinalizerControllerAlive
		case object.HolderGone:
			proof.Add(reason.LeaseExpired, &about, leaseText(l, p))
			unread := s.unreadParts(controllerParts)
			for _, text := range unread {
				proof.Add(reason.NotRead, nil, text)
			}
			if len(unread) > 0 {
				return report.FinalizerControllerUnknown
			}
			return report.FinalizerControllerGone
		case object.HolderUnclear:
			proof.Add(reason.LeaseNotFound, &about, "the lease of "+name+" is inconclusive")
			return report.FinalizerControllerUnknown
		}
	}
	if c := s.evidence.CompletenessOf(Leases, object.ManagerLease.Namespace); !c.Whole && !s.managerLeaseAbsent {
		proof.Add(reason.NotRead, nil, "leases in kube-system: "+c.Why)
	} else {
		proof.Add(reason.LeaseNotFound, nil, "there is no lease of "+name+": it may work without one")
	}
	return report.FinalizerControllerUnknown
}

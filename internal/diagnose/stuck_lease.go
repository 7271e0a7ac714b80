package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// pulse is what a lease says of its holder.
type pulse int

const (
	none pulse = iota
	renewed
	expired
)

// The slack in seconds around the end of a lease: clocks differ, and dumps take a
// while. Between the two nothing is said.
const (
	surelyRenewed = 60
	surelyExpired = 300
)

// pulseOf is what a lease says at the time of the question.
func (i *inquiry) pulseOf(l evidence.Lease) pulse {
	over := i.now - l.Renewed - l.Duration
	switch {
	case i.now == 0 || l.Renewed == 0:
		return none
	case over > surelyExpired:
		return expired
	case over < surelyRenewed && l.Holder != "":
		return renewed
	}
	return none
}

func leaseText(l evidence.Lease, p pulse) string {
	verb := "was renewed"
	if p == expired {
		verb = "has expired: it was renewed last"
	}
	return fmt.Sprintf("lease %s in namespace %s, held by %q, %s%s", l.Name, l.Namespace, l.Holder, verb, stampText(l.Renewed))
}

// leases looks for the lease of the remover: held by one of the suspects, or named
// like the program, the API group of the object, or the domain of the finalizer.
func (s *search) leases() pulse {
	if s.seen == nil {
		return none
	}
	found := none
	for _, l := range s.seen.Leases {
		if !s.owns(l) {
			continue
		}
		p := s.pulseOf(l)
		about := report.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: l.Namespace, Name: l.Name}
		switch p {
		case renewed:
			s.e.prove(LeaseRenewed, &about, leaseText(l, p))
			found = renewed
		case expired:
			s.e.prove(LeaseExpired, &about, leaseText(l, p))
			if found == none {
				found = expired
			}
		case none:
		}
	}
	return found
}

func (s *search) owns(l evidence.Lease) bool {
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
	return about(domain) || about(group) || s.program != "" && !common(s.program) && (l.Name == s.program || strings.HasPrefix(l.Holder, s.program+"-"))
}

// managerVerdict tells whether kube-controller-manager works, in which the collector
// and the other controllers of Kubernetes run. Its lease is the proof.
func (i *inquiry) managerVerdict(e *end) report.RemoverVerdict {
	const name = "kube-controller-manager"
	if i.seen != nil {
		for _, l := range i.seen.Leases {
			if l.Namespace != "kube-system" || l.Name != name {
				continue
			}
			about := report.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: l.Namespace, Name: l.Name}
			switch p := i.pulseOf(l); p {
			case renewed:
				e.prove(LeaseRenewed, &about, leaseText(l, p))
				if i.age(i.at(object.Ref(e.chain[0].Ref))) > long {
					return report.RemoverSlow
				}
				return report.RemoverAlive
			case expired:
				e.prove(LeaseExpired, &about, leaseText(l, p))
				unread := i.unread()
				for _, text := range unread {
					e.prove(NotRead, nil, text)
				}
				if len(unread) > 0 {
					return report.RemoverUnknown
				}
				return report.RemoverGone
			case none:
				e.prove(LeaseNotFound, &about, "what the lease of "+name+" says is not clear")
				return report.RemoverUnknown
			}
		}
	}
	if s := i.seen.Sight(evidence.Leases, "kube-system"); !s.Whole {
		e.prove(NotRead, nil, "leases in kube-system: "+s.Why)
	} else {
		e.prove(LeaseNotFound, nil, "there is no lease of "+name+": it may work without one")
	}
	return report.RemoverUnknown
}

package doctor

import (
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LeaseState says what came of looking for a lease.
type LeaseState uint8

// The states of a lease.
const (
	// LeaseRead: it is there, and was read.
	LeaseRead LeaseState = iota
	// LeaseNotThere: the server says that there is none.
	LeaseNotThere
	// LeaseNotRead: the server did not say.
	LeaseNotRead
)

// Lease is that of kube-controller-manager: who holds it runs the controllers.
type Lease struct {
	State LeaseState
	// Holder is who has it.
	Holder string
	// Renewed is when it was last renewed, and Read when that was read, in seconds since
	// 1970 by the clocks of the holder and of the server.
	Renewed, Read int64
	// Duration is for how many seconds it holds.
	Duration int64
	// Slack is for how many seconds before Read it may have been read, as in a dump.
	Slack int64
	// Why is why it was not read.
	Why string
}

// pulse is what it says of its holder.
func (l *Lease) pulse() object.Pulse {
	if l.State != LeaseRead {
		return object.PulseUnclear
	}
	return object.PulseOf(l.Holder, l.Renewed, l.Duration, l.Read, l.Slack)
}

// leaseIn is the lease that a dump shows; nil if the dump does not tell.
func leaseIn(around *evidence.Surroundings, at int64) *Lease {
	if around == nil {
		return nil
	}
	seen, slack := around.ManagerLease()
	switch {
	case seen != nil:
		return &Lease{Holder: seen.Holder, Renewed: seen.Renewed, Read: at, Duration: seen.Duration, Slack: slack}
	case around.ManagerStands() == report.FinalizerControllerUnknown:
		return &Lease{State: LeaseNotThere}
	}
	return nil
}

func (e *examiner) lease() {
	l := e.options.Lease
	if l == nil {
		return
	}
	// Who answers is running, whatever a lease says.
	answers := e.options.Graph != nil && e.options.Graph.Live
	switch l.State {
	case LeaseNotThere:
		if answers {
			return
		}
		e.add(reason.LeaseAbsent, object.ManagerLease, "there is none", "")
	case LeaseNotRead:
		e.add(reason.LeaseUnread, object.ManagerLease, "it could not be read", l.Why)
	case LeaseRead:
		if l.pulse() == object.PulseStopped && !answers {
			e.add(reason.LeaseExpired, object.ManagerLease, "it has not been renewed for "+span(l.Read-l.Renewed), "the last holder was "+l.Holder)
		}
	}
}

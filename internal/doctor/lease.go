package doctor

import (
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LeaseState is the result of reading a lease.
type LeaseState uint8

// The states of a lease.
const (
	// LeaseRead: it exists and was read.
	LeaseRead LeaseState = iota
	// LeaseNotThere: the server has none.
	LeaseNotThere
	// LeaseNotRead: the server did not answer whether there is one.
	LeaseNotRead
)

// Lease is the lease of kube-controller-manager. Its holder runs the controllers.
type Lease struct {
	State LeaseState
	// Holder is the identity of the holder.
	Holder string
	// Renewed is the time of the last renewal, by the clock of the holder. Read is when that was
	// read, by the clock of the server. Both are in seconds since 1970.
	Renewed, Read int64
	// Duration is the validity of a renewal in seconds.
	Duration int64
	// Slack is how many seconds before Read it may have been read, as in a dump.
	Slack int64
	// Why is why it was not read.
	Why string
}

// pulse returns what the lease shows about its holder.
func (l *Lease) pulse() object.Pulse {
	if l.State != LeaseRead {
		return object.PulseUnclear
	}
	return object.PulseOf(l.Holder, l.Renewed, l.Duration, l.Read, l.Slack)
}

// leaseIn returns the lease in a dump; nil if the dump does not show whether there is one.
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
	// A collector that answers is running, whatever the lease shows.
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

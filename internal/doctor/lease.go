package doctor

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	// Why is why it was not read.
	Why string
}

// expired is for how long nobody renews the lease. Clocks differ: a lease counts as
// given up a minute after its end.
func (l *Lease) expired() (int64, bool) {
	const clocks = 60
	late := l.Read - l.Renewed - l.Duration
	return l.Read - l.Renewed, l.State == LeaseRead && l.Renewed != 0 && late > clocks
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
		if ago, expired := l.expired(); expired && !answers {
			e.add(reason.LeaseExpired, object.ManagerLease, "it has not been renewed for "+span(ago), "the last holder was "+l.Holder)
		}
	}
}

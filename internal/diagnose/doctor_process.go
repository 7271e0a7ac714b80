package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
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

// holderState returns what the lease shows about its holder.
func (l *Lease) holderState() object.HolderState {
	if l.State != LeaseRead {
		return object.HolderUnclear
	}
	return object.HolderStateOf(l.Holder, l.Renewed, l.Duration, l.Read, l.Slack)
}

// leaseIn returns the lease in a dump; nil if the dump does not show whether there is one.
func leaseIn(judged *health.Assessment, at int64) *Lease {
	if judged == nil {
		return nil
	}
	seen, slack := judged.ManagerLease()
	switch {
	case seen != nil:
		return &Lease{Holder: seen.Holder, Renewed: seen.Renewed, Read: at, Duration: seen.Duration, Slack: slack}
	case judged.ManagerState() == report.FinalizerControllerUnknown:
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
		if l.holderState() == object.HolderGone && !answers {
			e.add(reason.LeaseExpired, object.ManagerLease, "it has not been renewed for "+durationText(l.Read-l.Renewed), "the last holder was "+l.Holder)
		}
	}
}

// Process is a process in the pod of a controller manager.
type Process struct {
	Pod object.Ref
	// Args is the command with all its arguments.
	Args []string
}

// collectorNames are the names of the collector in --controllers. The old one is still accepted.
var collectorNames = []string{"garbage-collector-controller", "garbagecollector"}

// processes adds a finding for each controller manager that was started without the collector. It
// adds none if any of them runs the collector, because that one may hold the lease.
func (e *examiner) processes() {
	var off []func()
	for _, p := range e.options.Manager {
		if !p.manages() {
			continue
		}
		flag, is := switchedOff(p.Args)
		if !is {
			return
		}
		off = append(off, func() { e.add(reason.CollectorSwitchedOff, p.Pod, "it runs with "+flag, "") })
	}
	for _, say := range off {
		say()
	}
}

// manages reports whether a process is a controller manager.
func (p Process) manages() bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool {
		return !strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "controller-manager")
	})
}

// switchedOff returns the flag that disables the collector; false if none does.
//
// Upstream: cmd/kube-controller-manager/app/controllermanager.go IsControllerEnabled: the first
// mention of a name decides, and without one the collector is on where `*` is.
func switchedOff(args []string) (flag string, off bool) {
	var controllers []string
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		key, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case key == "enable-garbage-collector" && given:
			if on, err := strconv.ParseBool(value); err == nil {
				off = !on
			}
		case key == "controllers" && given:
			controllers = append(controllers, strings.Split(value, ",")...)
		case key == "controllers" && i+1 < len(args):
			controllers = append(controllers, strings.Split(args[i+1], ",")...)
		}
	}
	if off {
		return "--enable-garbage-collector=false", true
	}
	return "--controllers=" + strings.Join(controllers, ","), controllers != nil && !enabled(controllers)
}

func enabled(controllers []string) bool {
	for _, c := range controllers {
		if name, minus := strings.CutPrefix(c, "-"); slices.Contains(collectorNames, name) {
			return !minus
		}
	}
	return slices.Contains(controllers, "*")
}

package doctor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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

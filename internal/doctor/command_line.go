package doctor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Process is what runs in the pod of a controller manager.
type Process struct {
	// Pod is the pod that it runs in.
	Pod object.Ref
	// Args is its command with all arguments.
	Args []string
}

// collectorNames are the names of the collector in --controllers: the old one is still
// understood.
var collectorNames = []string{"garbage-collector-controller", "garbagecollector"}

// processes looks for controller managers that were told not to collect. If one of them
// was not told so, it may be the one that holds the lease.
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

// manages tells a controller manager from what else runs in its pod.
func (p Process) manages() bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool {
		return !strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "controller-manager")
	})
}

// switchedOff finds the flag that switches the collector off.
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

package report

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Release is a finalizer that must be removed from an object, and what is known about the
// controller that removes it.
type Release struct {
	Object    object.Ref `json:"object"`
	Finalizer string     `json:"finalizer"`
	// Controller is the name of the controller that removes it; empty if none is known.
	Controller string          `json:"controller,omitempty"`
	State      ControllerState `json:"state"`
	// Why is why a controller in the state ControllerPaused leaves it, or what else must let it go on in the
	// state ControllerUnknown. It may be empty in that, and is in other states.
	Why string `json:"why,omitempty"`
}

// ControllerState is what the evidence says about the controller of a finalizer.
type ControllerState string

// The states of controllers.
const (
	// ControllerRuns: it was seen running, and removes the finalizer when it has done its work.
	ControllerRuns ControllerState = "Running"
	// ControllerGone: everything that could show it was read, and it is not there.
	ControllerGone ControllerState = "Gone"
	// ControllerGuards: it runs, and removes the finalizer once nothing uses the object. Whether
	// something uses it is unknown.
	ControllerGuards ControllerState = "Guards"
	// ControllerPaused: an annotation, a label or a field tells it to do nothing with the object, or
	// something that it waits for can no longer happen.
	ControllerPaused ControllerState = "Paused"
	// ControllerUnknown: the evidence does not decide.
	ControllerUnknown ControllerState = "Unknown"
)

// MayHang returns the blocked objects that hang only if controllers in an unknown state do not run, with
// the finalizers that these remove. An object that also waits for one that hangs for certain is not
// among them:
//
//	ns/shop waits for cm/locked, whose controller is unknown, and for pod/web, whose node does not report
func (p *Plan) MayHang() map[object.Ref][]Release {
	// Objects that were being deleted before have no releases of their own: what waits for them names these.
	of := map[object.Ref][]Release{}
	for i := range p.Effects {
		for _, r := range p.Effects[i].Once {
			if !slices.Contains(of[r.Object], r) {
				of[r.Object] = append(of[r.Object], r)
			}
		}
	}
	may, waiting := map[object.Ref][]Release{}, map[object.Ref][]object.Ref{}
	var hang []object.Ref
	for i := range p.Effects {
		e := &p.Effects[i]
		if e.Outcome != Blocked {
			continue
		}
		open, stays := e.UndecidedReleases(), true
		if e.AlreadyHappening && len(e.Once) == 0 {
			open, stays = undecided(of[e.Object])
		}
		switch {
		case reason.Code(e.Reason).Overdue(), e.BlockedBy != nil && e.BlockedBy.Node != "":
			hang = append(hang, e.Object)
		case len(open) > 0:
			may[e.Object] = open
		case stays:
			hang = append(hang, e.Object)
		}
		if e.BlockedBy != nil {
			for _, d := range e.BlockedBy.Dependents {
				waiting[d] = append(waiting[d], e.Object)
			}
		}
	}
	for len(hang) > 0 {
		next := waiting[hang[0]]
		delete(waiting, hang[0])
		hang = append(hang[1:], next...)
		for _, r := range next {
			delete(may, r)
		}
	}
	return may
}

// UndecidedReleases returns the finalizers of controllers in an unknown state that a blocked object needs
// removed. It returns nil if the object is known to stay.
func (e *Effect) UndecidedReleases() []Release {
	if e.Outcome != Blocked || e.Later != Deleted && e.Later != Unknown || e.Reason == string(reason.InUse) {
		return nil
	}
	open, _ := undecided(e.Once)
	return open
}

// undecided returns the releases that may or may not happen. It returns nil and true if one of them will not.
func undecided(list []Release) (open []Release, stays bool) {
	for _, r := range list {
		switch r.State {
		case ControllerUnknown, ControllerGuards:
			open = append(open, r)
		case ControllerGone, ControllerPaused:
			return nil, true
		case ControllerRuns:
		}
	}
	return open, false
}

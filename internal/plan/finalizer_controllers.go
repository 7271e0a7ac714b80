package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// finalizerControllers finds the controllers that remove finalizers, and whether they run.
type finalizerControllers struct {
	// lookup is nil if nothing is known about controllers.
	lookup ControllerOf
	// pauseOf returns why a controller leaves a finalizer. nil if nothing is known about controllers.
	pauseOf func(o *object.Object, name string) finalizer.Pause
	// unread returns what was not read and may show a running controller of an object's finalizers;
	// empty if all was. nil if nothing is known about controllers.
	unread func(o *object.Object) string
	// simulated contains the controllers that remove their finalizers in the simulation.
	simulated *controllerSet
	// cache contains earlier results of lookup.
	cache map[report.Release]report.Release
}

// releasesOf returns the finalizers of other controllers that hold an object, also those in the spec of a
// namespace. It excludes those of the collector and of the clean-up of a definition's instances, which the
// simulation removes. It includes those of a simulated controller that protects the object while it is in
// use.
func (f *finalizerControllers) releasesOf(o *object.Object) []report.Release {
	var list []report.Release
	for _, name := range slices.Concat(o.Finalizers(), o.OtherTokens()) {
		if name == object.Foreground || name == object.Orphan || name == controllers.DefinitionCleanup {
			continue
		}
		list = append(list, f.withController(o, report.Release{Object: o.Ref, Finalizer: name, State: report.ControllerUnknown}))
	}
	return list
}

// withController returns r with the controller that removes the finalizer, and its state.
func (f *finalizerControllers) withController(o *object.Object, r report.Release) report.Release {
	if f.lookup == nil || f.simulated.removesFinalizer(r.Finalizer) {
		return r
	}
	if known, ok := f.cache[r]; ok {
		return known
	}
	answer := r
	answer.Controller, answer.State = f.lookup(o, r.Finalizer)
	if f.pauseOf != nil && (answer.State == report.ControllerPaused || answer.State == report.ControllerUnknown) {
		answer.Why = f.pauseOf(o, r.Finalizer).Why
	}
	if answer.State != report.ControllerGuards { // changes once nothing uses the object
		f.cache[r] = answer
	}
	return answer
}

// orGone returns a lookup that has the controllers of some objects as gone, unless they are known to
// run. The lookup may be nil.
func (lookup ControllerOf) orGone(gone func(object.Ref) bool) ControllerOf {
	return func(o *object.Object, finalizer string) (name string, state report.ControllerState) {
		if lookup != nil {
			name, state = lookup(o, finalizer)
		}
		if state != report.ControllerRuns && gone(o.Ref) {
			state = report.ControllerGone
		}
		return name, state
	}
}

// RemovedBy returns the controller that removes a finalizer from an object of a kind, and when it does
// so. Both are empty for an unknown finalizer.
func RemovedBy(name, kind string) (by, when string) {
	k, _ := finalizer.On(name, kind)
	return k.RemovedBy, k.When
}

// controllerLookup finds the controller that removes a finalizer, and whether it runs. A controller
// counts as running only if its own pods are not all being deleted.
type controllerLookup struct {
	assessment *health.Assessment
	snap       *snapshot.Snapshot
	judge      *outcome.Judge
	// outside has facts of objects that the snapshot lacks, by uid.
	outside map[types.UID]*object.OutsideFacts
}

func (l controllerLookup) pauseOf(o *object.Object, name string) finalizer.Pause {
	p := l.assessment.PauseOf(o, l.outside[o.UID], name)
	if p.Until.Name != "" && l.isDeletedAt(p.Until) {
		return finalizer.Pause{}
	}
	return p
}

// controllerOf returns the controller's name and state. A controller that exists but makes no
// progress is neither running nor gone. Neither is a controller if the request deletes its pods:
// whether it finishes first is a race. The pods are the first content of a namespace to be deleted.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (l controllerLookup) controllerOf(o *object.Object, name string) (string, report.ControllerState) {
	j := l.assessment.Controller(o, name)
	by := j.Name
	if by == "" && j.Controller.Name != "" {
		by = j.Controller.ShortName()
	}
	pause := l.pauseOf(o, name)
	switch {
	case j.State == report.FinalizerControllerGone:
		return by, report.ControllerGone
	case pause.MayEnd:
		return by, report.ControllerUnknown
	case pause.Why != "":
		return by, report.ControllerPaused
	case j.State == report.FinalizerControllerAlive && l.mayBeUsed(o, name):
		return by, report.ControllerGuards
	case j.State == report.FinalizerControllerAlive && !l.allDeleted(j.Working):
		return by, report.ControllerRuns
	default:
		return by, report.ControllerUnknown
	}
}

// mayBeUsed reports whether a finalizer that protects an object in use may stay. Its controller
// removes it once nothing uses the object.
func (l controllerLookup) mayBeUsed(o *object.Object, finalizer string) bool {
	use, protects := l.assessment.UseOf(o, finalizer)
	if !protects {
		return false
	}
	users := l.judge.Staying(use.Users)
	if use.UntilDeletion {
		users = slices.DeleteFunc(users, l.isDeletedAt)
	}
	return use.Unseen || use.Counted > 0 || len(users)+len(l.judge.Staying(use.Possible)) > 0
}

// allDeleted reports whether all pods are gone or being deleted, and no controller recreates them.
func (l controllerLookup) allDeleted(pods []object.Ref) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(r object.Ref) bool { return l.podStays(r) })
}

// podStays reports whether a pod stays, or is recreated by its owner that stays. A pod that the
// snapshot lacks stays.
func (l controllerLookup) podStays(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || !l.judge.Leaves(o) {
		return true
	}
	owner, ok := o.Controller()
	if !ok || l.isDeletedAt(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}) {
		return false
	}
	return !l.isDeletedAt(object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: o.Namespace, Name: owner.Name})
}

func (l controllerLookup) isDeletedAt(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	return o != nil && l.judge.Leaves(o)
}

package faults

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// oracle judges every write by the true store, in the moment in which it is
// carried out. The numbers are those of the invariants in docs/spec/safety.md.
type oracle struct {
	sim *apisim.Server

	mu     sync.Mutex
	writes []facade.Write
	wrong  []string
	// released are the owners whose dependents were promised to stay.
	released map[types.UID]bool
	// mayTake are finalizers that a row takes off on purpose.
	mayTake []string
	// over: nobody may write any more.
	over bool
}

// wrote judges a write.
func (o *oracle) wrote(w facade.Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes = append(o.writes, w)
	if o.over {
		o.say("I12", w, "it came after the end")
	}
	if w.Verb == object.Delete {
		o.deleted(w)
	} else {
		o.patched(w)
	}
}

func (o *oracle) say(invariant string, w facade.Write, format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf("%s: %s %s: %s", invariant, w.Verb.Names(), w.Ref, fmt.Sprintf(format, args...)))
}

func (o *oracle) deleted(w facade.Write) {
	p := w.Options.Preconditions
	if p == nil || p.UID == nil || *p.UID == "" || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		o.say("I2", w, "it is not pinned to a uid and a resourceVersion")
	}
	if w.Options.GracePeriodSeconds != nil {
		o.say("I5", w, "it sets a grace period")
	}
	if w.Err != nil {
		return // nothing has happened
	}
	if len(w.Before.Owners) == 0 {
		o.say("I1", w, "it had no owner")
	}
	for _, ref := range w.Before.Owners {
		owner := o.find(ref.UID, w)
		if owner != nil && !owner.WaitingForDependents() && ref.Names(owner.Ref) && (owner.Namespace == "" || owner.Namespace == w.Ref.Namespace) {
			o.say("I4", w, "its owner %s lives", owner.Ref)
		}
		if o.released[ref.UID] {
			o.say("I7", w, "its owner %s was deleted with the promise that it stays", ref.Name)
		}
	}
}

func (o *oracle) patched(w facade.Write) {
	if w.Patch.UID == "" {
		o.say("I2", w, "it is not pinned to a uid")
	}
	if w.Patch.ResourceVersion == "" && !o.releases(w) {
		o.say("I2", w, "it is not pinned to a resourceVersion")
	}
	if w.Err != nil {
		return
	}
	after := w.After
	if after == nil {
		after = &object.Object{} // it took the last finalizer off, and with it the object
	}
	o.owners(w, after)
	for _, f := range after.Finalizers() {
		if !w.Before.HasFinalizer(f) {
			o.say("I8", w, "it puts the finalizer %s on", f)
		}
	}
	for _, f := range w.Before.Finalizers() {
		if !after.HasFinalizer(f) {
			o.taken(w, f)
		}
	}
}

// releases reports whether all that a patch does is to take away references to owners
// that are being orphaned from: the uids say enough then.
func (o *oracle) releases(w facade.Write) bool {
	for _, uid := range w.Patch.DeleteOwners {
		if owner := o.find(uid, w); owner != nil && !owner.HasFinalizer(object.Orphan) {
			return false
		}
	}
	return len(w.Patch.DeleteOwners) > 0 && len(w.Patch.MergeOwners) == 0 && w.Patch.Finalizers == nil
}

// owners judges what a patch has done to references.
func (o *oracle) owners(w facade.Write, after *object.Object) {
	if w.After == nil {
		return
	}
	for _, ref := range w.Before.Owners {
		if slices.Contains(after.Owners, ref) {
			continue
		}
		owner := o.find(ref.UID, w)
		lifted := ref
		lifted.BlockOwnerDeletion = object.False
		unblocked := slices.Contains(after.Owners, lifted)
		waits := owner != nil && (owner.WaitingForDependents() || owner.BeingDeleted() && owner.HasFinalizer(object.Orphan))
		switch {
		case owner == nil && !unblocked, waits:
		case unblocked:
			o.say("I8", w, "it stops blocking %s, which does not wait", ref.Name)
		default:
			o.say("I4", w, "its reference to %s, which lives, is gone", owner.Ref)
		}
	}
	for _, ref := range after.Owners {
		if !slices.ContainsFunc(w.Before.Owners, func(b object.OwnerReference) bool { return b.UID == ref.UID }) {
			o.say("I8", w, "it puts a reference to %s on", ref.Name)
		}
	}
}

// taken judges that a finalizer was taken off.
func (o *oracle) taken(w facade.Write, finalizer string) {
	switch {
	case slices.Contains(o.mayTake, finalizer):
	case finalizer == object.Orphan:
		o.released[w.Before.UID] = true
		for d := range o.sim.List {
			if d.RefersTo(w.Before.UID) {
				o.say("I7", w, "%s was not released", d.Ref)
			}
		}
	case finalizer == object.Foreground:
		for d := range o.sim.List {
			if slices.ContainsFunc(d.Owners, func(r object.OwnerReference) bool { return r.UID == w.Before.UID && r.Blocks() }) {
				o.say("I3", w, "%s blocks it", d.Ref)
			}
		}
	default:
		o.say("I8", w, "the finalizer %s is not the garbage collector's", finalizer)
	}
}

// find looks for a uid in the store, and counts what the write itself has removed.
func (o *oracle) find(uid types.UID, w facade.Write) *object.Object {
	if w.Before != nil && w.Before.UID == uid {
		return w.Before
	}
	for have := range o.sim.List {
		if have.UID == uid {
			return have
		}
	}
	return nil
}

// about are the writes so far that are about an object.
func (o *oracle) about(ref object.Ref) []facade.Write {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.writes), func(w facade.Write) bool {
		return w.Ref.Kind != ref.Kind || w.Ref.Namespace != ref.Namespace || w.Ref.Name != ref.Name
	})
}

// allWrites are the writes so far.
func (o *oracle) allWrites() []facade.Write {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.writes)
}

// end says that nobody may write any more.
func (o *oracle) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// verdicts are what was wrong.
func (o *oracle) verdicts() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.wrong)
}

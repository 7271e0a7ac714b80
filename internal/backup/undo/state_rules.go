package undo

import (
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// finding is what is known about a saved object before the others are considered.
type finding struct {
	*node
	of *planning
	// found has the coordinates of the object now; nil if its absence is proven, or on an error.
	found *object.Object
	err   error
	// unreadable is why the saved content can't be used; nil if it can, and if it isn't needed.
	unreadable error
}

// stateRule is one case of a finding. The first rule that holds decides.
type stateRule struct {
	name   string
	holds  func(*finding) bool
	state  state
	reason reason.Code
	// why is a case in which the next rule holds, too, and is wrong. It is empty if the two rules
	// exclude each other, so that their order is arbitrary.
	why string
}

// stateRules decide about a saved object: first about one that was found.
var stateRules = []stateRule{
	{"made before", // an earlier undo created cm/a, and was interrupted
		func(f *finding) bool {
			return f.found != nil && f.found.UID == f.of.again[f.Object.UID] && !f.found.BeingDeleted()
		}, alive, reason.MadeBefore, "an earlier undo filled sa/default"},
	{"default account", // ns/shop was created again, and with it sa/default, without its imagePullSecrets
		func(f *finding) bool {
			return f.another() && !f.found.BeingDeleted() && f.isDefaultAccount() && f.content != nil && f.hasContent()
		}, made, "", "the new sa/default is filled, because no user made it"},
	{"another", // a user created cm/a again
		(*finding).another, skipped, reason.TakenByAnother, "the new cm/a is being deleted, too, and not the saved one"},
	{"terminating", // a finalizer holds cm/a
		func(f *finding) bool { return f.found != nil && f.found.BeingDeleted() }, skipped, reason.StillTerminating, ""},
	{"changed, unreadable", // the run orphaned rs/web-1, but its references were not saved
		func(f *finding) bool { return f.found != nil && f.unreadable != nil && f.Changed }, alive, reason.Unreadable,
		"rs/web-1 exists, but its references can't be restored"},
	{"alive", // the run did not delete cm/a
		func(f *finding) bool { return f.found != nil }, alive, reason.StillAlive, ""},
	{"unknown", // the API server does not answer
		func(f *finding) bool { return f.err != nil }, skipped, reason.CannotTell, "cm/a may still exist"},
	{"forgotten", // the record no longer contains cm/a
		func(f *finding) bool { return f.Raw == nil && f.Forgotten }, skipped, reason.Forgotten,
		"cm/a is not in a backup either, but an older record may have it"},
	{"not saved", // the backup has only the name of cm/a
		func(f *finding) bool { return f.Raw == nil }, skipped, reason.NotSaved, ""},
	{"unreadable", // the file of cm/a was damaged
		func(f *finding) bool { return f.unreadable != nil }, skipped, reason.Unreadable, ""},
	{"finished", // job/backup was complete
		func(f *finding) bool { return !f.of.now.Finished && f.ranToItsEnd(f.of) }, skipped, reason.WouldRunAgain,
		"a new job/backup would run again"},
	{"made", // cm/a is gone
		func(*finding) bool { return true }, made, "", ""},
}

// another reports whether another object has the coordinates now.
func (f *finding) another() bool { return f.found != nil && f.found.UID != f.Object.UID }

// find looks up a node in the cluster, and decodes its content.
func (p *planning) find(n *node) *finding {
	live, err := p.now.Lookup(n.Object)
	if _, unserved := errors.AsType[*object.UnknownKindError](err); unserved && p.definition(n) != nil {
		live, err = nil, nil // its kind is gone, and all its objects with it
	}
	f := &finding{node: n, of: p, found: live, err: err}
	if n.Raw != nil && err == nil {
		if f.unreadable = n.decode(); f.unreadable != nil {
			n.content, n.owners = nil, nil
		}
	}
	return f
}

// setState decides about a node by the current state of the cluster.
func (p *planning) setState(n *node) {
	f := p.find(n)
	r := stateRules[slices.IndexFunc(stateRules, func(r stateRule) bool { return r.holds(f) })]
	n.state, n.skip.Reason = r.state, r.reason
	switch r.reason {
	case reason.CannotTell:
		n.skip.Detail = f.err.Error()
	case reason.Unreadable:
		n.skip.Detail = f.unreadable.Error()
	default:
	}
	if f.found != nil && n.state != made {
		n.skip.Live = f.found.UID
		if n.state == alive || n.content != nil && !f.found.BeingDeleted() {
			n.live = f.found
		}
	}
	if n.state == made && n.ranToItsEnd(p) {
		n.step.Notes = append(n.step.Notes, reason.RunsAgain)
	}
}

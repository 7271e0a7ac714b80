package controller

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// action describes a request: as a log value, and as the beginning of a sentence after and before
// it was sent.
type action struct{ name, done, would string }

func actionOf(q engine.Request) action {
	switch q.Verb {
	case engine.DeleteObject:
		return action{"delete", "Deleted (" + q.Policy.String() + ")", "Would delete"}
	case engine.RemoveOwners:
		return action{"remove owner references", "Removed owner references", "Would remove owner references"}
	case engine.Unblock:
		return action{"stop blocking owners", "Stopped blocking the deletion of its owners", "Would stop blocking the deletion of its owners"}
	default:
		return action{"remove finalizer " + q.Finalizer, "Removed finalizer " + q.Finalizer, "Would remove finalizer " + q.Finalizer}
	}
}

// mostNamed is how many owners a sentence names.
const mostNamed = 3

// missing returns the owners whose absence a decision depends on.
func missing(d engine.Decision) []object.Ref {
	var refs []object.Ref
	for i := range d.Owners {
		if o := &d.Owners[i]; o.Class == engine.Dangling {
			refs = append(refs, cmp.Or(o.Ref, o.Reference.In(d.Attempt.Ref.Namespace)))
		}
	}
	return refs
}

// because returns why a request is sent. It names the absent owners if they are the reason.
func because(d engine.Decision) string {
	owners := missing(d)
	if len(owners) == 0 {
		return reason.Collector.Sentence(d.Reason)
	}
	names := make([]string, 0, mostNamed+1)
	for _, o := range owners[:min(len(owners), mostNamed)] {
		names = append(names, fmt.Sprintf("owner %s (uid %s)", o, o.UID))
	}
	if n := len(owners) - mostNamed; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	verb := " does not exist."
	if len(owners) > 1 {
		verb = " do not exist."
	}
	return strings.Join(names, ", ") + verb
}

// once remembers the last text about each object, to avoid repetitions. It is not safe for
// concurrent use.
type once map[object.Ref]string

// mostTold bounds once.
const mostTold = 1 << 14

// say reports whether a text is new.
func (o once) say(ref object.Ref, text string) bool {
	if o[ref] == text {
		return false
	}
	if len(o) >= mostTold {
		clear(o)
	}
	o[ref] = text
	return true
}

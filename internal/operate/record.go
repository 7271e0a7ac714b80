package operate

import (
	"context"
	"errors"
	"log/slog"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// The levels of what is logged. What a person has to know is slog.LevelInfo or above.
const (
	// LevelRequests: each object about which something was decided to be sent.
	LevelRequests = slog.LevelDebug
	// LevelDecisions: each finished attempt.
	LevelDecisions = 2 * slog.LevelDebug
)

// What became of the requests of an attempt: the values of the label outcome.
const (
	nothing = "nothing" // there was none to send
	sent    = "sent"
	refused = "refused" // by us
	failed  = "failed"
)

// record counts and tells of a finished attempt. It is called from one goroutine.
func (s *service) record(r engine.Record) {
	d := r.Decision
	reason, outcome := d.Reason.String(), nothing
	refusal, ours := errors.AsType[*Refusal](r.Err)
	_, kept := errors.AsType[*engine.RefusedError](r.Err)
	switch {
	case ours:
		outcome = refused
		if refusal.Reason != Observing {
			reason = refusal.Reason
		}
		s.tellKept(r)
	case kept:
		outcome = refused
	case len(d.Requests) > 0 && r.Err != nil:
		outcome = failed
	case len(d.Requests) > 0:
		outcome = sent
	}
	decisionsTotal.WithLabelValues(reason, outcome).Inc()
	if unknown(d.Reason) {
		unknownTotal.WithLabelValues(d.Reason.String()).Inc()
	}
	level := LevelDecisions
	if len(d.Requests) > 0 {
		level = LevelRequests
	}
	if !s.o.Log.Enabled(context.Background(), level) {
		return
	}
	attributes := []slog.Attr{slog.String("object", d.Attempt.Ref.String()), slog.String("reason", reason), slog.String("outcome", outcome)}
	for _, q := range d.Requests {
		attributes = append(attributes, slog.String("request", verbText(q)+" "+q.Ref.String()))
	}
	if r.Err != nil {
		attributes = append(attributes, slog.String("error", r.Err.Error()))
	}
	s.o.Log.LogAttrs(context.Background(), level, "decided", attributes...)
}

// tellKept tells the objects of the requests that were refused. One refusal stands
// for all of a decision: what refuses one refuses the next.
func (s *service) tellKept(r engine.Record) {
	var one *engine.RefusedError
	var why *Refusal
	if s.events == nil || !errors.As(r.Err, &one) || !errors.As(one, &why) || why.Reason == NotLeading || why.Reason == Gathering {
		return
	}
	s.events.kept(one.Request, r.Decision.Reason, why)
}

func verbText(r engine.Request) string {
	switch r.Verb {
	case engine.DeleteObject:
		return "delete"
	case engine.RemoveOwners:
		return "remove owners of"
	case engine.Unblock:
		return "unblock"
	default:
		return "remove finalizer " + r.Finalizer + " of"
	}
}

// unknown tells whether a reason says that something is not known.
func unknown(r engine.Reason) bool {
	switch r {
	case engine.UnknownOwnerKind, engine.OwnerNotCovered, engine.ObjectNotCovered, engine.LookupFailed, engine.AbsenceNotProven:
		return true
	default:
		return false
	}
}

// kind tells of a kind whose state has changed. It is called from many goroutines.
func (s *service) kind(k kube.KindState) {
	level := LevelRequests
	if k.State == kube.Broken || k.State == kube.Undiscovered {
		level = slog.LevelWarn
	}
	s.o.Log.LogAttrs(context.Background(), level, "kind", slog.String("resource", k.Resource.GroupResource().String()),
		slog.String("state", k.State.String()), slog.String("why", k.Why))
}

package controller

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	nothing  = "nothing" // there was none to send
	sent     = "sent"
	observed = "observed" // it would have been sent: see errObserving
	refused  = "refused"  // by us
	failed   = "failed"
)

// record counts and tells of a finished attempt. It is called from one goroutine.
func (s *service) record(r engine.Record) {
	d := r.Decision
	code, outcome := d.Reason.String(), nothing
	refusal, ours := errors.AsType[*refusal](r.Err)
	_, kept := errors.AsType[*engine.RefusedError](r.Err)
	switch {
	case ours:
		outcome = refused
		if refusal == errObserving {
			outcome = observed
			s.logObserved(r)
		} else {
			code = string(refusal.Reason)
		}
		s.tellKept(r)
	case kept:
		outcome = refused
	case len(d.Requests) > 0 && r.Err != nil:
		outcome = failed
	case len(d.Requests) > 0:
		outcome = sent
	}
	s.tellSent(r)
	decisionsTotal.WithLabelValues(code, outcome).Inc()
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
	attributes := []slog.Attr{slog.String("object", d.Attempt.Ref.String()), slog.String("reason", code), slog.String("outcome", outcome)}
	for _, q := range d.Requests {
		attributes = append(attributes, slog.String("request", actionOf(q).name+" "+q.Ref.String()))
	}
	if r.Err != nil && outcome != observed {
		attributes = append(attributes, slog.String("error", r.Err.Error()))
	}
	s.o.Log.LogAttrs(context.Background(), level, "decided", attributes...)
}

// tellSent tells of every write of an attempt that left: a line of the log each, which is
// the record of what this process has done, and an event for what was done.
func (s *service) tellSent(r engine.Record) {
	for _, x := range r.Exchanges {
		if _, kept := errors.AsType[*refusal](x.Err); x.Verb == object.Get || kept {
			continue
		}
		done := "deleted"
		if x.Verb == object.PatchVerb {
			done = "patched"
		}
		message, level := messageOf(x.Err, done)
		attributes := attributesOf(r.Decision, *x.Request)
		if x.Err != nil {
			attributes = append(attributes, slog.String("error", x.Err.Error()))
		} else if s.events != nil {
			s.events.done(*x.Request, r.Decision)
		}
		s.o.Log.LogAttrs(context.Background(), level, message, attributes...)
	}
}

// messageOf is what an answer says of a write. That of a server that has failed, and
// none at all, do not say whether it was done.
func messageOf(err error, done string) (string, slog.Level) {
	var status apierrors.APIStatus
	var unserved *kube.UnservedPathError
	answered := errors.As(err, &status) && status.Status().Code < http.StatusInternalServerError || errors.As(err, &unserved)
	switch {
	case err == nil:
		return done, slog.LevelInfo
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return "not " + done, slog.LevelInfo // somebody else was faster
	case answered:
		return "not " + done, slog.LevelWarn
	default:
		return "not known to be " + done, slog.LevelWarn
	}
}

// logObserved logs what would have been sent, once.
func (s *service) logObserved(r engine.Record) {
	for _, q := range r.Decision.Requests {
		message := "would patch"
		if q.Verb == engine.DeleteObject {
			message = "would delete"
		}
		if s.would.say(q.Ref, actionOf(q).would+because(r.Decision)) {
			s.o.Log.LogAttrs(context.Background(), slog.LevelInfo, message, attributesOf(r.Decision, q)...)
		}
	}
}

// attributesOf are what is logged of a request.
func attributesOf(d engine.Decision, q engine.Request) []slog.Attr {
	list := []slog.Attr{
		slog.String("object", q.Ref.String()), slog.String("uid", string(q.Ref.UID)),
		slog.String("request", actionOf(q).name), slog.String("reason", d.Reason.String()),
	}
	if owners := missing(d); len(owners) > 0 {
		names := make([]string, len(owners))
		for i, o := range owners {
			names[i] = o.String() + " uid " + string(o.UID)
		}
		list = append(list, slog.Any("absent", names))
	}
	return list
}

// tellKept tells the objects of the requests that were refused. One refusal stands
// for all of a decision: what refuses one refuses the next.
func (s *service) tellKept(r engine.Record) {
	var one *engine.RefusedError
	var why *refusal
	if s.events == nil || !errors.As(r.Err, &one) || !errors.As(one, &why) || why.Reason == reason.NotLeading || why.Reason == reason.Gathering {
		return
	}
	s.events.kept(one.Request, r.Decision, why)
}

// unknown reports whether a reason says that something is not known.
func unknown(r reason.Code) bool {
	switch r {
	case reason.UnknownOwnerKind, reason.OwnerNotCovered, reason.ObjectNotCovered, reason.LookupFailed, reason.AbsenceNotProven:
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

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

// The log levels. Everything that a person must know is at slog.LevelInfo or above.
const (
	// LevelRequests: each object with a decided request.
	LevelRequests = slog.LevelDebug
	// LevelDecisions: each finished attempt.
	LevelDecisions = 2 * slog.LevelDebug
)

// The outcomes of the requests of an attempt, as values of the label outcome.
const (
	nothing  = "nothing" // no request was needed
	sent     = "sent"
	observed = "observed" // would have been sent: see errObserving
	refused  = "refused"  // by this process
	failed   = "failed"
)

// record counts and reports a finished attempt. It must not be called concurrently.
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

// tellSent reports every write of an attempt that was sent: a log line for each, which is the
// record of what this process has done, and an event for each success.
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

// messageOf returns the log message for the result of a write. Without a response, or after a
// server error, it is unknown whether the write was done.
func messageOf(err error, done string) (string, slog.Level) {
	var status apierrors.APIStatus
	var unserved *kube.UnservedPathError
	answered := errors.As(err, &status) && status.Status().Code < http.StatusInternalServerError || errors.As(err, &unserved)
	switch {
	case err == nil:
		return done, slog.LevelInfo
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return "not " + done, slog.LevelInfo // another request won the race
	case answered:
		return "not " + done, slog.LevelWarn
	default:
		return "not known to be " + done, slog.LevelWarn
	}
}

// logObserved logs each request that would have been sent once.
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

// attributesOf returns the log attributes of a request.
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

// tellKept sends an event about refused requests. It reports only the first one of a decision,
// because the others are refused for the same reason.
func (s *service) tellKept(r engine.Record) {
	var one *engine.RefusedError
	var why *refusal
	if s.events == nil || !errors.As(r.Err, &one) || !errors.As(one, &why) || why.Reason == reason.NotLeading || why.Reason == reason.Gathering {
		return
	}
	s.events.kept(one.Request, r.Decision, why)
}

// unknown reports whether a reason means that something is unknown.
func unknown(r reason.Code) bool {
	switch r {
	case reason.UnknownOwnerKind, reason.OwnerNotCovered, reason.ObjectNotCovered, reason.LookupFailed, reason.AbsenceNotProven:
		return true
	default:
		return false
	}
}

// kind logs a change of a kind's state. It is called concurrently.
func (s *service) kind(k kube.KindState) {
	level := LevelRequests
	if k.State == kube.Broken || k.State == kube.Undiscovered {
		level = slog.LevelWarn
	}
	s.o.Log.LogAttrs(context.Background(), level, "kind", slog.String("resource", k.Resource.GroupResource().String()),
		slog.String("state", k.State.String()), slog.String("why", k.Why))
}

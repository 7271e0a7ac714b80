package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

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
		s.reportRefused(r)
	case kept:
		outcome = refused
	case len(d.Requests) > 0 && r.Err != nil:
		outcome = failed
	case len(d.Requests) > 0:
		outcome = sent
	}
	s.logSent(r)
	decisionsTotal.WithLabelValues(code, outcome).Inc()
	if unknown(d.Reason) {
		unknownTotal.WithLabelValues(d.Reason.String()).Inc()
	}
	logDecision(s.o.Log, r, code, outcome)
}

// LogDecision logs a finished attempt of a collector that has no safety limits.
func LogDecision(log *slog.Logger, r engine.Record) {
	outcome := nothing
	switch {
	case r.Err != nil:
		outcome = failed
	case len(r.Decision.Requests) > 0:
		outcome = sent
	}
	logDecision(log, r, r.Decision.Reason.String(), outcome)
}

// logDecision logs a finished attempt with its reason and its outcome.
func logDecision(log *slog.Logger, r engine.Record, code, outcome string) {
	d, level := r.Decision, LevelDecisions
	if len(d.Requests) > 0 {
		level = LevelRequests
	}
	if !log.Enabled(context.Background(), level) {
		return
	}
	attributes := []slog.Attr{slog.String("object", d.Attempt.Ref.String()), slog.String("reason", code), slog.String("outcome", outcome)}
	for _, q := range d.Requests {
		attributes = append(attributes, slog.String("request", actionOf(q).name+" "+q.Ref.String()))
	}
	if r.Err != nil && outcome != observed {
		attributes = append(attributes, slog.String("error", r.Err.Error()))
	}
	log.LogAttrs(context.Background(), level, "decided", attributes...)
}

// logSent reports every write of an attempt that was sent: a log line for each, which is the
// record of what this process has done, and an event for each success.
func (s *service) logSent(r engine.Record) {
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
		names := object.Mapped(owners, func(o object.Ref) string { return o.String() + " uid " + string(o.UID) })
		list = append(list, slog.Any("absent", names))
	}
	return list
}

// reportRefused sends an event about refused requests. It reports only the first one of a decision,
// because the others are refused for the same reason.
func (s *service) reportRefused(r engine.Record) {
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

// maxNamed is how many owners a sentence names.
const maxNamed = 3

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
	names := make([]string, 0, maxNamed+1)
	for _, o := range owners[:min(len(owners), maxNamed)] {
		names = append(names, fmt.Sprintf("owner %s (uid %s)", o, o.UID))
	}
	if n := len(owners) - maxNamed; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	verb := " does not exist."
	if len(owners) > 1 {
		verb = " do not exist."
	}
	return strings.Join(names, ", ") + verb
}

// lastTexts remembers the last text about each object, to avoid repetitions. It is not safe for
// concurrent use.
type lastTexts map[object.Ref]string

// maxLastTexts bounds lastTexts.
const maxLastTexts = 1 << 14

// say reports whether a text is new.
func (o lastTexts) say(ref object.Ref, text string) bool {
	if o[ref] == text {
		return false
	}
	if len(o) >= maxLastTexts {
		clear(o)
	}
	o[ref] = text
	return true
}

const component = "kubectl-gc"

// Limits of events. Events are best effort: those that exceed the limits are dropped, and nothing
// waits for them.
const (
	// eventBurst and eventQPS limit the events about one object. The rate of all events is that of
	// the client.
	eventBurst = 5
	eventQPS   = 1.0 / 300
)

// events reports the collector's decisions as events of the objects.
type events struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
	// told remembers the events about requests that were not sent.
	told lastTexts
}

func newEvents(client typed.EventsGetter) *events {
	b := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{BurstSize: eventBurst, QPS: eventQPS}))
	b.StartRecordingToSink(&typed.EventSinkImpl{Interface: client.Events("")})
	return &events{
		broadcaster: b,
		recorder:    b.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: component}),
		told:        lastTexts{},
	}
}

// warn sends upstream's only event, with the same text.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go reportInvalidNamespaceOwnerRef.
// Rule: spec §3.13.
func (e *events) warn(w engine.Warning) {
	o := w.Owner
	e.recorder.Eventf(about(w.Dependent), corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
		"ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID, w.Dependent.Namespace)
}

// kept sends an event about a request that was decided but not sent. It must not be called
// concurrently.
func (e *events) kept(r engine.Request, d engine.Decision, why *refusal) {
	code, text := d.Reason.String(), ""
	if why == errObserving {
		text = actionOf(r).would + " (observe mode): " + because(d)
	} else {
		code, text = string(why.Reason), actionOf(r).would+", and was not sent: "+why.Text+". "+because(d)
	}
	if e.told.say(r.Ref, text) {
		e.recorder.Event(about(r.Ref), corev1.EventTypeNormal, code, text)
	}
}

// done sends an event about a successful request.
func (e *events) done(r engine.Request, d engine.Decision) {
	e.recorder.Event(about(r.Ref), corev1.EventTypeNormal, d.Reason.String(), actionOf(r).done+": "+because(d))
}

func about(r object.Ref) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

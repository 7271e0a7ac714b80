package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	told once
}

func newEvents(client typed.EventsGetter) *events {
	b := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{BurstSize: eventBurst, QPS: eventQPS}))
	b.StartRecordingToSink(&typed.EventSinkImpl{Interface: client.Events("")})
	return &events{
		broadcaster: b,
		recorder:    b.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: component}),
		told:        once{},
	}
}

func (e *events) stop() { e.broadcaster.Shutdown() }

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

// kept reports that a request about an object was decided and not sent. It must not be called
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

// done reports what was done to an object.
func (e *events) done(r engine.Request, d engine.Decision) {
	e.recorder.Event(about(r.Ref), corev1.EventTypeNormal, d.Reason.String(), actionOf(r).done+": "+because(d))
}

func about(r object.Ref) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

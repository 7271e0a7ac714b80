package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// machine is the collector of a scenario, with the watch events that it has not
// seen yet and the attempts that are held half-way.
type machine struct {
	env       *Env
	server    *apisim.Server // the one that the collector was made for
	collector *engine.Collector
	options   []engine.Option
	// blind are kinds that are not watched although they could be.
	blind []string
	// pending are the events that happened and were not observed, in order.
	pending []object.Event
	wire    *wire
	held    []*held

	// settled is the server when the collector last came to rest, and since are
	// the events from then on: what explore starts from.
	settled *apisim.Server
	since   []object.Event
}

// held is an attempt that waits for its next step.
type held struct {
	attempt  engine.Attempt
	facts    *engine.Facts
	decision *engine.Decision
	outcome  *engine.Outcome
}

// follow brings the machine up to date with the world: a new server gets a new
// collector with the usual settings, and what happened in the old one becomes
// pending.
func (m *machine) follow() {
	if m.server != m.env.Server {
		m.server, m.options, m.blind = m.env.Server, nil, nil
		m.restart()
		return
	}
	m.env.Drain()
	m.arrive(m.env.Unseen())
}

// newCollector makes one of the release of the world.
func (m *machine) newCollector() *engine.Collector {
	return engine.New(append(slices.Clone(m.options), engine.WithRelease(release.Of(m.env.Release)))...)
}

// restart makes a new collector that has seen nothing: the list of every
// watched kind comes as Added events with no old object.
func (m *machine) restart() {
	m.collector = m.newCollector()
	m.wire = &wire{api: m.env.API()}
	m.held, m.pending, m.since, m.settled = nil, nil, nil, nil
	m.env.Drain()
	m.env.Unseen()
	m.arrive(added(m.server.Objects()))
}

func added(objects []*object.Object) []object.Event {
	events := make([]object.Event, 0, len(objects))
	for _, o := range objects {
		events = append(events, object.Event{Type: object.Added, Object: o})
	}
	return events
}

// arrive sorts out what the collector's watches show of what happened.
func (m *machine) arrive(events []object.Event) {
	for _, e := range events {
		if m.watched(e.Object) {
			m.pending = append(m.pending, e)
			m.since = append(m.since, e)
		}
	}
}

func (m *machine) watched(o *object.Object) bool {
	r, err := m.env.Resources.For(o.APIVersion, o.Kind)
	return err == nil && m.env.Resources.Monitored(r) && !slices.Contains(m.blind, o.Kind)
}

// quiescent remembers the moment at which the collector came to rest.
func (m *machine) quiescent() {
	m.settled, m.since = m.server.Clone(), nil
}

// world is the collector's view of the server for the drivers of the engine:
// requests go over the wire, events are those of watched kinds, and whatever is
// handed over is written down.
type world struct {
	*wire
	machine *machine
	// happened hands over what happened in the server since the last call.
	happened func() []object.Event
	// seen is what was handed over to the collector.
	seen []object.Event
}

// Events hands over what is pending.
func (w *world) Events() []object.Event {
	m := w.machine
	m.arrive(w.happened())
	events := m.pending
	m.pending = nil
	w.seen = append(w.seen, events...)
	return events
}

// Writes counts the changes of what is stored.
func (w *world) Writes() uint64 { return w.machine.server.Writes() }

// kubelet finishes the pods whose grace period runs, as the kubelet of their
// node would once the containers have stopped: DELETE with grace period 0, the
// UID, and no policy.
func kubelet(ctx context.Context, s *apisim.Server) ([]string, error) {
	var lines []string
	for _, ref := range s.Lingering() {
		o := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &ref.UID}}
		if err := s.Delete(ctx, ref, o); err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
		lines = append(lines, "DELETE "+ref.String()+optionsText(o)+" → 200")
	}
	return lines, nil
}

// identity finds the identity of an owner by its UID: that of the object with
// the UID, else what the first reference with the UID names.
func (m *machine) identity(uid types.UID) (object.Ref, error) {
	objects := m.server.Objects()
	for _, o := range objects {
		if o.UID == uid {
			return o.Ref, nil
		}
	}
	for _, o := range objects {
		for _, ref := range o.Owners {
			if ref.UID == uid {
				return ref.In(o.Namespace), nil
			}
		}
	}
	return object.Ref{}, fmt.Errorf("nothing in the world has or names the uid %q", uid)
}

// wire is the API that the collector talks to. It passes everything on and
// writes down what went over the wire: a request that was refused before it
// could be made, for want of a mapping or a namespace, is none.
type wire struct {
	api  engine.API
	sent []call
}

// call is one request with its answer, as scenarios print it.
type call struct {
	text  string
	write bool
}

// Resource asks the API; a mapping is no request.
func (w *wire) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.api.Resource(apiVersion, kind)
}

// Get passes a read on.
func (w *wire) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := w.api.Get(ctx, ref)
	answer := ""
	if err == nil {
		answer = fmt.Sprintf("200 uid=%s rv=%s", o.UID, o.ResourceVersion)
	}
	w.note(false, "GET "+ref.String(), answer, err)
	return o, err
}

// Delete passes a delete on.
func (w *wire) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	err := w.api.Delete(ctx, ref, o)
	w.note(true, "DELETE "+ref.String()+optionsText(o), "200", err)
	return err
}

// Patch passes a patch on.
func (w *wire) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	err := w.api.Patch(ctx, ref, p)
	w.note(true, patchText(ref, p), "200", err)
	return err
}

func patchText(ref object.Ref, p object.Patch) string {
	form := "strategic"
	if p.Type == object.Merge {
		form = "merge"
	}
	return fmt.Sprintf("PATCH %s %s %s", ref, form, p.Body())
}

func (w *wire) note(write bool, request, answer string, err error) {
	if err != nil {
		var made bool
		if answer, made = answerText(err); !made {
			return
		}
	}
	w.sent = append(w.sent, call{text: request + " → " + answer, write: write})
}

// take hands over the requests since the last call.
func (w *wire) take() []call {
	sent := w.sent
	w.sent = nil
	return sent
}

// answerText is the status code of an error, and whether a request was made at
// all.
func answerText(err error) (answer string, made bool) {
	var unknown *object.UnknownKindError
	var scope *object.NamespaceRequiredError
	var uncovered *object.UncoveredError
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &unknown), errors.As(err, &scope):
		return "", false
	case errors.As(err, &uncovered):
		return "not covered", true
	case errors.As(err, &status):
		return fmt.Sprint(status.Status().Code), true
	default:
		return err.Error(), true
	}
}

// optionsText is what a DELETE says beyond the object, each with a blank before.
func optionsText(o metav1.DeleteOptions) string {
	text := ""
	if o.PropagationPolicy != nil {
		text += " " + string(*o.PropagationPolicy)
	}
	if o.GracePeriodSeconds != nil {
		text += fmt.Sprintf(" grace=%d", *o.GracePeriodSeconds)
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil {
			text += " uid=" + string(*p.UID)
		}
		if p.ResourceVersion != nil {
			text += " rv=" + *p.ResourceVersion
		}
	}
	return text
}

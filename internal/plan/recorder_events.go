package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
)

// Events returns the new events of the kinds that the collector watches. The next call reuses the
// slice.
func (r *recorder) Events() []object.Event {
	r.takeEvents(0)
	clear(r.delivered)
	r.pending, r.delivered = r.delivered[:0], r.pending
	return r.delivered
}

// takeEvents takes new events from the server. cause is the number of the step that caused them.
func (r *recorder) takeEvents(cause int) {
	for _, e := range r.server.Events() {
		if e.Type == object.Deleted && !r.silent {
			r.records.add(record{
				object: e.Object, verb: r.words.Number(verbRemoved), actor: r.words.Number(outcome.ActorServer), reason: r.words.Number(r.reason), cause: int32(cause),
			})
		}
		if r.onEvent != nil {
			r.onEvent(e, cause)
		}
		if r.watches(e.Object) {
			r.pending = append(r.pending, e)
		}
	}
}

// watches reports whether the collector watches the kind of the object.
func (r *recorder) watches(o *object.Object) bool {
	if r.watched.apiVersion != o.APIVersion || r.watched.kind != o.Kind { // most have the same kind as the one before
		r.watched.apiVersion, r.watched.kind, r.watched.yes = o.APIVersion, o.Kind, r.watchesKind(o)
	}
	return r.watched.yes
}

func (r *recorder) watchesKind(o *object.Object) bool {
	group, version := object.SplitAPIVersion(o.APIVersion)
	gvk := schema.GroupVersionKind{Group: group, Version: version, Kind: o.Kind}
	yes, known := r.monitored[gvk]
	if !known {
		resource, err := r.snap.Resources.For(o.APIVersion, o.Kind)
		yes = err == nil && r.snap.Resources.Monitored(resource)
		r.monitored[gvk] = yes
	}
	return yes
}

package differential

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// now is what a list shows, and its revision, at one moment.
func (f *facade) now(t target) ([]*object.Object, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sim.ObjectsOf(t.resource.GroupResource(), t.namespace), f.beginning + uint64(len(f.log))
}

// watch streams the events of a resource from a revision on; a client that wants
// to be shown first what there is gets that, and a bookmark behind it.
func (f *facade) watch(w http.ResponseWriter, r *http.Request, t target, partial bool) error {
	q := r.URL.Query()
	from, _ := strconv.ParseUint(q.Get("resourceVersion"), 10, 64)
	s := stream{encoder: json.NewEncoder(w), partial: partial, flush: w.(http.Flusher).Flush}
	w.Header().Set("Content-Type", "application/json")
	if q.Get("sendInitialEvents") == "true" {
		objects, revision := f.now(t)
		from = revision
		for _, o := range objects {
			s.send("ADDED", o)
		}
		s.bookmark(t.resource, revision)
	}
	s.flush()
	next := int(max(from, f.beginning) - f.beginning)
	for s.err == nil {
		f.mu.Lock()
		events, more := f.log[min(next, len(f.log)):], f.more
		f.mu.Unlock()
		for _, e := range events {
			if e.Object.APIVersion == t.resource.APIVersion() && e.Object.Kind == t.resource.Kind {
				s.send(e.Type.String(), e.Object)
			}
		}
		next += len(events)
		s.flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return nil
		}
	}
	return nil
}

// stream is an open watch. After an error it does nothing more.
type stream struct {
	encoder *json.Encoder
	partial bool
	flush   func()
	err     error
}

func (s *stream) send(event string, o *object.Object) {
	text, err := manifestOf(o, s.partial)
	if err != nil {
		s.err = err
	}
	s.write(event, text)
}

func (s *stream) write(event string, o json.RawMessage) {
	if s.err == nil {
		s.err = s.encoder.Encode(map[string]any{"type": event, "object": o})
	}
}

func (s *stream) bookmark(r object.Resource, revision uint64) {
	apiVersion, kind := r.APIVersion(), r.Kind
	if s.partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	s.write("BOOKMARK", json.RawMessage(fmt.Sprintf(
		`{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}`,
		apiVersion, kind, revision)))
}

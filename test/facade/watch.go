package facade

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// watch streams the events of a resource from a revision on; a client that wants
// to be shown first what there is gets that, and a bookmark behind it.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, t Target, partial bool) error {
	q := r.URL.Query()
	from, _ := strconv.ParseUint(q.Get("resourceVersion"), 10, 64)
	out := stream{encoder: json.NewEncoder(w), partial: partial, flush: w.(http.Flusher).Flush}
	w.Header().Set("Content-Type", "application/json")
	if q.Get("sendInitialEvents") == "true" {
		first := s.now(t)
		from = first.revision
		for _, o := range first.objects {
			out.send("ADDED", o)
		}
		out.bookmark(t.Resource, from)
	}
	out.flush()
	next := int(max(from, s.beginning) - s.beginning)
	for out.err == nil {
		s.mu.Lock()
		events, more := s.log[min(next, len(s.log)):], s.more
		s.mu.Unlock()
		for _, e := range events {
			if e.Object.APIVersion == t.Resource.APIVersion() && e.Object.Kind == t.Resource.Kind {
				out.send(e.Type.String(), e.Object)
			}
		}
		next += len(events)
		out.flush()
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

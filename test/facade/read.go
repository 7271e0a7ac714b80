package facade

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// Refuse writes an error as an API server does.
func Refuse(w http.ResponseWriter, err error) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

func show(w http.ResponseWriter, o *object.Object, partial bool) error {
	text, err := manifestOf(o, partial)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(text)
	return err
}

// rest is what is left of a list that is handed out in pages: all pages show the
// same moment.
type rest struct {
	objects  []*object.Object
	revision uint64
}

// now is what a list shows, and its revision, at one moment.
func (s *Server) now(t Target) rest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rest{s.Sim.ObjectsOf(t.Resource.GroupResource(), t.Namespace), s.beginning + uint64(len(s.log))}
}

// turn is what a request asks for: the whole of a list, or what a token has left.
func (s *Server) turn(t Target, token string) (rest, error) {
	if token == "" {
		return s.now(t), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	left, ok := s.pages[token]
	if !ok {
		return rest{}, apierrors.NewResourceExpired("the provided continue parameter is too old")
	}
	return left, nil
}

// keep is the token of what is left of a list.
func (s *Server) keep(left rest) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := fmt.Sprintf("page-%d", len(s.pages)+1)
	s.pages[token] = left
	return token
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, t Target, partial bool) error {
	q := r.URL.Query()
	page, err := s.turn(t, q.Get("continue"))
	if err != nil {
		return err
	}
	selector, err := fields.ParseSelector(q.Get("fieldSelector"))
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); ok {
		page.objects = slices.DeleteFunc(slices.Clone(page.objects), func(o *object.Object) bool { return o.Name != name })
	}
	meta := map[string]string{"resourceVersion": strconv.FormatUint(page.revision, 10)}
	if limit, err := strconv.Atoi(q.Get("limit")); err == nil && limit > 0 && limit < len(page.objects) {
		meta["continue"] = s.keep(rest{page.objects[limit:], page.revision})
		page.objects = page.objects[:limit]
	}
	apiVersion, kind := t.Resource.APIVersion(), t.Resource.Kind+"List"
	if partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	items := make([]json.RawMessage, len(page.objects))
	for i, o := range page.objects {
		text, err := manifestOf(o, partial)
		if err != nil {
			return err
		}
		items[i] = text
	}
	answer(w, map[string]any{"apiVersion": apiVersion, "kind": kind, "items": items, "metadata": meta})
	return nil
}

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

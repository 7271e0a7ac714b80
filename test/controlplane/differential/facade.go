package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// facade serves a simulated API server over HTTP, as far as a real controller
// manager needs it: discovery, lists, watches, reads, deletes and patches. It has
// no rules of its own.
type facade struct {
	sim       *apisim.Server
	resources *object.Resources
	// discovery are the documents of a real server, by path.
	discovery map[string][]byte

	// mu makes a change and its events one.
	mu  sync.Mutex
	log []object.Event
	// beginning is the revision before the first event; every event is one more.
	beginning uint64
	// more is closed when the log has grown.
	more chan struct{}
}

func newFacade(world []*object.Object, rs *object.Resources, discovery map[string][]byte) *facade {
	for i, o := range world {
		o.ResourceVersion = strconv.Itoa(i + 1)
	}
	return &facade{
		sim: apisim.New(world, rs, apisim.WithGivenUIDs()), resources: rs, discovery: discovery,
		more: make(chan struct{}), beginning: uint64(len(world)),
	}
}

// change does something to the server and moves what happened into the log that
// watches read.
func (f *facade) change(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := do()
	if events := f.sim.Events(); len(events) > 0 {
		f.log = append(f.log, events...)
		close(f.more)
		f.more = make(chan struct{})
	}
	return err
}

// ServeHTTP answers one request.
func (f *facade) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	switch path {
	case "healthz", "livez", "readyz":
		_, _ = io.WriteString(w, "ok")
		return
	case "version":
		answer(w, map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
		return
	case "api", "apis":
		w.Header().Set("Content-Type", discoveryType)
		_, _ = w.Write(f.discovery["/"+path])
		return
	}
	t, ok := f.target(path)
	if !ok {
		refuse(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, object.Resource{}.GroupResource(), path, "no such path", 0, false))
		return
	}
	if err := f.serve(w, r, t); err != nil {
		refuse(w, err)
	}
}

// target is what a path names.
type target struct {
	resource  object.Resource
	namespace string
	name      string
}

func (t target) ref() object.Ref {
	return object.Ref{APIVersion: t.resource.APIVersion(), Kind: t.resource.Kind, Namespace: t.namespace, Name: t.name}
}

// target reads api/v1/… and apis/GROUP/VERSION/…, then [namespaces/NS/]PLURAL[/NAME].
func (f *facade) target(path string) (target, bool) {
	words := strings.Split(path, "/")
	group := ""
	switch {
	case len(words) > 2 && words[0] == "api":
		words = words[1:]
	case len(words) > 3 && words[0] == "apis":
		group, words = words[1], words[2:]
	default:
		return target{}, false
	}
	version, words := words[0], words[1:]
	var t target
	if len(words) > 2 && words[0] == "namespaces" {
		t.namespace, words = words[1], words[2:]
	}
	if len(words) > 1 {
		t.name = words[1]
	}
	for _, r := range f.resources.All() {
		if r.Group == group && r.Version == version && r.Name == words[0] && r.Served() && len(words) < 3 {
			t.resource = r
			return t, true
		}
	}
	return target{}, false
}

func (f *facade) serve(w http.ResponseWriter, r *http.Request, t target) error {
	ctx := r.Context()
	partial := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	switch {
	case r.Method == http.MethodGet && t.name == "" && r.URL.Query().Get("watch") != "":
		return f.watch(w, r, t, partial)
	case r.Method == http.MethodGet && t.name == "":
		return f.list(w, t, partial)
	case r.Method == http.MethodGet:
		o, err := f.sim.Get(ctx, t.ref())
		if err != nil {
			return err
		}
		return show(w, o, partial)
	case r.Method == http.MethodDelete:
		return f.delete(ctx, w, r, t)
	case r.Method == http.MethodPatch:
		return f.patch(ctx, w, r, t)
	case r.Method == http.MethodPost && t.resource.Name == "events":
		_, err := io.Copy(w, r.Body)
		return err
	default:
		return apierrors.NewMethodNotSupported(t.resource.GroupResource(), strings.ToLower(r.Method))
	}
}

func (f *facade) delete(ctx context.Context, w http.ResponseWriter, r *http.Request, t target) error {
	var o metav1.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil && !errors.Is(err, io.EOF) {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := f.change(func() error { return f.sim.Delete(ctx, t.ref(), o) }); err != nil {
		return err
	}
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	return nil
}

func (f *facade) patch(ctx context.Context, w http.ResponseWriter, r *http.Request, t target) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	p, err := patchOf(r.Header.Get("Content-Type"), body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var shown *object.Object
	err = f.change(func() error {
		shown, _ = f.sim.Get(ctx, t.ref()) // as it was, if the patch removes it
		if err := f.sim.Patch(ctx, t.ref(), p); err != nil {
			return err
		}
		if after, err := f.sim.Get(ctx, t.ref()); err == nil {
			shown = after
		}
		return nil
	})
	if err != nil {
		return err
	}
	return show(w, shown, true)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// refuse writes an error as an API server does.
func refuse(w http.ResponseWriter, err error) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
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

func (f *facade) list(w http.ResponseWriter, t target, partial bool) error {
	objects, revision := f.now(t)
	apiVersion, kind := t.resource.APIVersion(), t.resource.Kind+"List"
	if partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	items := make([]json.RawMessage, len(objects))
	for i, o := range objects {
		text, err := manifestOf(o, partial)
		if err != nil {
			return err
		}
		items[i] = text
	}
	answer(w, map[string]any{
		"apiVersion": apiVersion, "kind": kind, "items": items,
		"metadata": map[string]string{"resourceVersion": fmt.Sprint(revision)},
	})
	return nil
}

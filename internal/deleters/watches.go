package deleters

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// watches knows of which kinds a watch has begun since they could be read: one that was listed
// may still turn out to be one that may not be watched. It may be used from many goroutines.
type watches struct {
	// news is called when something here has changed.
	news func()

	mu    sync.Mutex
	begun map[schema.GroupResource]bool
	// undiscovered is why the server does not say what it serves; empty if it has said so.
	undiscovered string
	// denied: it does not because we may not ask.
	denied bool
}

// Watching takes note of a watch that has begun.
func (w *watches) Watching(r object.Resource) {
	if w.set(func() bool { was := w.begun[r.GroupResource()]; w.begun[r.GroupResource()] = true; return !was }) {
		w.news()
	}
}

// Broken takes note of a kind that cannot be listed or watched.
func (w *watches) Broken(r object.Resource) {
	w.set(func() bool { delete(w.begun, r.GroupResource()); return true })
}

// Served takes note that the server has said what it serves.
func (w *watches) Served(*object.Resources) {
	w.set(func() bool { w.undiscovered, w.denied = "", false; return true })
}

// undiscoverable takes note that it has not.
func (w *watches) undiscoverable(k kube.KindState) {
	w.set(func() bool { w.undiscovered, w.denied = k.Why, k.Refused; return true })
}

func (w *watches) set(change func() bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return change()
}

// watched reports whether a watch of a kind has begun.
func (w *watches) watched(r object.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[r.GroupResource()]
}

// discovery says why the server does not say what it serves, if that is so.
func (w *watches) discovery() (why string, denied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undiscovered, w.denied
}

package deleters

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// watches records the kinds whose watch has begun since they became readable: a kind that can be
// listed may be forbidden to watch. It is safe for concurrent use.
type watches struct {
	// news is called after a change.
	news func()

	mu    sync.Mutex
	begun map[schema.GroupResource]bool
	// undiscovered is the error of discovery; empty if it succeeded.
	undiscovered string
	// denied is true if discovery is forbidden.
	denied bool
}

// Watching records that a watch has begun.
func (w *watches) Watching(r object.Resource) {
	if w.set(func() bool { was := w.begun[r.GroupResource()]; w.begun[r.GroupResource()] = true; return !was }) {
		w.news()
	}
}

// Broken records a kind that cannot be listed or watched.
func (w *watches) Broken(r object.Resource) {
	w.set(func() bool { delete(w.begun, r.GroupResource()); return true })
}

// Served records a successful discovery.
func (w *watches) Served(*object.Resources) {
	w.set(func() bool { w.undiscovered, w.denied = "", false; return true })
}

// undiscoverable records a failed discovery.
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

// discovery returns the error of discovery; empty if it succeeded.
func (w *watches) discovery() (why string, denied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undiscovered, w.denied
}

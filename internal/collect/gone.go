package collect

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mostGone bounds what is remembered. Who is forgotten costs a grace period.
const mostGone = 1 << 16

// gone are objects that a watch has shown to go. They are known to have been there, so
// that their absence is no surprise and needs no grace period. (spec §17 step 7)
type gone struct {
	mu   sync.Mutex
	uids map[types.UID]struct{}
}

// has reports whether an object was seen to go.
func (g *gone) has(uid types.UID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.uids[uid]
	return ok
}

// see takes note of an event. That an object was missing in a list is not enough: a
// list may come from a server that does not know yet what there is. What a watch shows
// carries the object as it was.
func (g *gone) see(e object.Event) {
	if e.Type != object.Deleted || e.Object.ResourceVersion == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uids == nil || len(g.uids) >= mostGone {
		g.uids = map[types.UID]struct{}{}
	}
	g.uids[e.Object.UID] = struct{}{}
}

// through hands events on and takes note of them first, until they end or the context
// does.
func (g *gone) through(ctx context.Context, events <-chan object.Event) <-chan object.Event {
	out := make(chan object.Event)
	go func() {
		defer close(out)
		for e := range events {
			g.see(e)
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

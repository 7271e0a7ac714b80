package collect

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mostGone bounds gone. A forgotten object needs a grace period again.
const mostGone = 1 << 16

// gone has the objects that a watch has shown as deleted. They are known to have existed, so their
// absence needs no grace period. (spec §17 step 7)
type gone struct {
	mu   sync.Mutex
	uids map[types.UID]struct{}
}

// has reports whether a watch has shown the object as deleted.
func (g *gone) has(uid types.UID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.uids[uid]
	return ok
}

// see records an event. An object that is only missing from a list does not count, because the list
// may come from a server with an old state. An event of a watch has the last state of the object.
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

// through forwards events and records them first, until they or the context end.
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

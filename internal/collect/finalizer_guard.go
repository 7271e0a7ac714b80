package collect

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// finalizerGuard refuses to take the collector's finalizers off an owner for as long as
// some kind is not known: a dependent may be among its objects. Of an owner that is
// orphaned from, that dependent would be collected as soon as it is seen; and the
// foreground deletion of an owner would be over with a dependent left.
// (spec L63, L64, I7)
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go GarbageCollector.Sync,
// GetDeletableResources: goes on without the kind.
// Rule: spec §3.3.
type finalizerGuard struct {
	feed *kube.Feed

	mu    sync.Mutex
	epoch uint64
	// asked are the owners that were refused once in this epoch: whoever asks again
	// has judged by what has been seen since.
	asked map[types.UID]bool
}

// mostAsked bounds what is remembered. Who is forgotten is refused once more.
const mostAsked = 1 << 16

func newFinalizerGuard(f *kube.Feed) *finalizerGuard { return &finalizerGuard{feed: f, epoch: 1} }

// before is asked before a write.
func (p *finalizerGuard) before(next func(context.Context, engine.Request) error) func(context.Context, engine.Request) error {
	return func(ctx context.Context, r engine.Request) error {
		if r.Verb == engine.RemoveFinalizer {
			if err := p.kept(r); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		return next(ctx, r)
	}
}

// kept reports whether an owner may lose a finalizer.
func (p *finalizerGuard) kept(r engine.Request) error {
	epoch, why, complete := p.feed.Complete()
	if missing := p.feed.Missing(); complete && r.Finalizer == object.Orphan && missing != "" {
		why, complete = missing, false
	}
	if !complete {
		return fmt.Errorf("not every dependent may be known: %s", why)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if epoch != p.epoch {
		p.epoch, p.asked = epoch, map[types.UID]bool{}
	}
	if p.asked != nil && !p.again(r.Ref.UID) {
		return errors.New("not every dependent was known when this was decided")
	}
	return nil
}

// again reports whether an owner was refused before, and takes note of it.
func (p *finalizerGuard) again(uid types.UID) bool {
	if p.asked[uid] {
		return true
	}
	if len(p.asked) >= mostAsked {
		clear(p.asked)
	}
	p.asked[uid] = true
	return false
}

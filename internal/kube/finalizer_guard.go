package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// finalizerGuard refuses to remove the collector's finalizers from an owner while some kind is not
// fully known, because a dependent may be among its objects. If the owner orphans its dependents,
// that dependent would be collected as soon as it is seen. If the owner is deleted in the
// foreground, its deletion would finish with a dependent left.
// (spec L63, L64, I7)
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go GarbageCollector.Sync,
// GetDeletableResources: continues without the kind.
// Rule: spec §3.3.
type finalizerGuard struct {
	feed *Feed

	mu sync.Mutex
	// epoch is the epoch of the feed in which asked was begun. It starts at 1.
	epoch uint64
	// asked are the owners that were refused once in this epoch: their first request may have been
	// decided before it. A second request was decided after that. nil in the first epoch, in which
	// no request is refused for this reason.
	asked map[types.UID]bool
}

// maxAsked is the maximum number of owners in asked. A forgotten owner is refused once more.
const maxAsked = 1 << 16

// before returns an engine.RunOptions.Before that applies the guard and then calls next, unless
// that is nil.
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

// kept returns an error if an owner may not lose a finalizer now: while a kind is not fully known,
// and for the first request in a new epoch.
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

// again reports whether an owner was refused before, and records it.
func (p *finalizerGuard) again(uid types.UID) bool {
	if p.asked[uid] {
		return true
	}
	if len(p.asked) >= maxAsked {
		clear(p.asked)
	}
	p.asked[uid] = true
	return false
}

package apply

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
)

// bounds is an API that lets through what a plan foresaw. The Guard judges one
// write at a time; what it lets through is sent outside of the lock.
type bounds struct {
	engine.API
	mu    sync.Mutex
	guard *plan.Guard // over an API that sends nothing
	// surprised is told of a write that was refused.
	surprised func(plan.Surprise)
}

func newBounds(api engine.API, result *plan.Result, surprised func(plan.Surprise)) *bounds {
	return &bounds{API: api, guard: result.Guard(silent{api}), surprised: surprised}
}

// errUnpinned refuses a write that would do its work on any version.
var errUnpinned = errors.New("the request does not name the version of the object")

// Delete lets a DELETE of the plan through that is pinned to a uid and a version.
func (b *bounds) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if p := o.Preconditions; p == nil || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		return errUnpinned
	}
	if err := b.judge(func() error { return b.guard.Delete(ctx, ref, o) }); err != nil {
		return err
	}
	return b.API.Delete(ctx, ref, o)
}

// Patch lets a PATCH of the plan through.
func (b *bounds) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := b.judge(func() error { return b.guard.Patch(ctx, ref, p) }); err != nil {
		return err
	}
	return b.API.Patch(ctx, ref, p)
}

func (b *bounds) judge(ask func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := ask()
	if refused, ok := errors.AsType[*plan.RefusedError](err); ok {
		b.surprised(refused.Surprise)
	}
	return err
}

// silent is an API that sends no write.
type silent struct{ engine.API }

// Delete sends nothing.
func (silent) Delete(context.Context, object.Ref, metav1.DeleteOptions) error { return nil }

// Patch sends nothing.
func (silent) Patch(context.Context, object.Ref, object.Patch) error { return nil }

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

// bounds is an API that passes only writes in the plan. The Guard judges one write at a time, under
// a lock; the writes themselves are concurrent.
type bounds struct {
	engine.API
	mu    sync.Mutex
	guard *plan.Guard // its API sends nothing
	// surprised is called with a write that was refused.
	surprised func(plan.Surprise)
}

func newBounds(api engine.API, result *plan.Result, surprised func(plan.Surprise)) *bounds {
	return &bounds{API: api, guard: result.Guard(silent{api}), surprised: surprised}
}

// errUnpinned refuses a write without a resourceVersion, which would apply to any version.
var errUnpinned = errors.New("the request does not name the version of the object")

// Delete passes a DELETE of the plan that requires a UID and a resourceVersion.
func (b *bounds) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if p := o.Preconditions; p == nil || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		return errUnpinned
	}
	if err := b.judge(func() error { return b.guard.Delete(ctx, ref, o) }); err != nil {
		return err
	}
	return b.API.Delete(ctx, ref, o)
}

// Patch passes a PATCH of the plan.
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

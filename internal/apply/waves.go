package apply

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// waves is an API that tells a gate when a write that it let through was answered.
type waves struct {
	engine.API
	gate *gate
	// broken is told when a write could not be written down.
	broken func(error)
}

// Delete deletes.
func (w *waves) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	defer w.gate.leave()
	return w.check(w.API.Delete(ctx, ref, o))
}

// Patch patches.
func (w *waves) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	defer w.gate.leave()
	return w.check(w.API.Patch(ctx, ref, p))
}

func (w *waves) check(err error) error {
	if _, ok := errors.AsType[*backup.JournalError](err); ok {
		w.broken(err)
	}
	return err
}

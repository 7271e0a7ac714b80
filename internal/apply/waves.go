package apply

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// waves is an API that calls leave on a gate after each answered write.
type waves struct {
	engine.API
	gate *gate
	// broken is called if a write could not be recorded.
	broken func(error)
}

// Delete sends a DELETE.
func (w *waves) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	defer w.gate.leave()
	return w.check(w.API.Delete(ctx, ref, o))
}

// Patch sends a PATCH.
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

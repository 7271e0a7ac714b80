package deleters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// existsError lists objects that still exist at a deadline.
type existsError struct {
	// After is how long WaitGone waited.
	After time.Duration
	// Explanations are the texts of Explain, one for each object.
	Explanations []string
	// Cause is the error of the context.
	Cause error
}

// Error returns the explanations.
func (e *existsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not gone after %s", e.After.Round(time.Millisecond))
	if errors.Is(e.Cause, context.Canceled) {
		b.WriteString(": the context was cancelled")
	}
	for _, text := range e.Explanations {
		b.WriteString("\n  " + strings.ReplaceAll(text, "\n", "\n  "))
	}
	return b.String()
}

// Unwrap returns the error of the context.
func (e *existsError) Unwrap() error { return e.Cause }

// WaitGone returns when the server has none of the objects any more. An object with a uid is gone if
// another one has its name. It fails with an *existsError if the context ends before.
func (d *Deleters) WaitGone(ctx context.Context, refs []object.Ref) error {
	began, pause := time.Now(), firstPause
	for _, ref := range refs {
		if ref.UID == "" && (ref.Name == "" || ref.Kind == "") {
			return errors.New(d.Explain(ctx, ref)) // which asks for what is missing
		}
	}
	left := refs
	for {
		_, changed := d.store.now()
		if ctx.Err() == nil {
			left = d.existing(ctx, left)
		}
		switch {
		case len(left) == 0:
			return nil
		case ctx.Err() != nil:
			return d.notGone(ctx, time.Since(began), left)
		}
		select {
		case <-changed:
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
		case <-ctx.Done():
		case <-d.done:
			return d.endedError()
		}
	}
}

// existing returns the objects that are not proven to be gone.
func (d *Deleters) existing(ctx context.Context, refs []object.Ref) []object.Ref {
	var left []object.Ref
	for _, ref := range refs {
		if ref.Kind == "" {
			if _, gone := d.store.deletedRef(ref.UID); gone {
				continue
			}
		} else if o, err := d.client.Get(ctx, ref); apierrors.IsNotFound(err) || err == nil && ref.UID != "" && o.UID != ref.UID {
			continue
		}
		left = append(left, ref)
	}
	return left
}

// notGone explains the objects that are left when the context ended.
func (d *Deleters) notGone(ended context.Context, after time.Duration, left []object.Ref) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), 10*accountTimeout)
	defer cancel()
	e := &existsError{After: after, Cause: ended.Err()}
	for i, ref := range left {
		if i == maxItems {
			e.Explanations = append(e.Explanations, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		e.Explanations = append(e.Explanations, d.Explain(ctx, ref))
	}
	return e
}

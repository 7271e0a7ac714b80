package progress

import (
	"context"
	"errors"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
)

// UnderWay holds what a command is doing, for the message after an interrupt. It is safe for
// concurrent use.
type UnderWay struct {
	mu   sync.Mutex
	text string
}

type underWayKey struct{}

// Recorded returns a context that makes stages record what they do.
func Recorded(ctx context.Context) (context.Context, *UnderWay) {
	u := &UnderWay{}
	return context.WithValue(ctx, underWayKey{}, u), u
}

// UnlessInterrupted returns the result of f, or the error of the context if that ends first. f may
// block on a silent pipe; its goroutine is then abandoned and must not write anything.
func UnlessInterrupted[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Asking records that a confirmation is pending, until answered is called.
func Asking(ctx context.Context) (answered func()) {
	u, ok := ctx.Value(underWayKey{}).(*UnderWay)
	if !ok {
		return func() {}
	}
	u.set("waiting for your answer: nothing was written")
	return func() {
		if ctx.Err() == nil {
			u.set("")
		}
	}
}

func (u *UnderWay) set(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text = text
}

// MessageOf returns the message for the error of a command. After an interrupt it names the current
// stage. Commands report themselves what was written by then.
func (u *UnderWay) MessageOf(code int, err error) string {
	_, own := errors.AsType[*exit.Error](err)
	if code != exit.Interrupted || own {
		return err.Error()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.text == "" {
		return "interrupted"
	}
	return "interrupted while " + u.text
}

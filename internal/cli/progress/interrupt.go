package progress

import (
	"context"
	"errors"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
)

// UnderWay is what a command is doing, for whoever interrupts it.
type UnderWay struct {
	mu   sync.Mutex
	text string
}

type underWayKey struct{}

// Recorded is a context in which stages say what is under way.
func Recorded(ctx context.Context) (context.Context, *UnderWay) {
	u := &UnderWay{}
	return context.WithValue(ctx, underWayKey{}, u), u
}

// UnlessInterrupted returns what a function returns, or the error of the context if
// that ends before. The function may wait for a pipe that says nothing more: it is
// left behind, and must not write anything.
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

// Asking records that a person is asked, before anything is written.
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

// MessageOf is what is said about the error that a command ends with. An interruption
// says what was under way; what was written by then, the command has said itself.
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

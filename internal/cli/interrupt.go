package cli

import (
	"context"
	"errors"
	"sync"
)

// underWay is what a command is doing, for whoever interrupts it.
type underWay struct {
	mu   sync.Mutex
	text string
}

type underWayKey struct{}

// recorded is a context in which stages say what is under way.
func recorded(ctx context.Context) (context.Context, *underWay) {
	u := &underWay{}
	return context.WithValue(ctx, underWayKey{}, u), u
}

// unlessInterrupted returns what a function returns, or the error of the context if
// that ends before. The function may wait for a pipe that says nothing more: it is
// left behind, and must not write anything.
func unlessInterrupted[T any](ctx context.Context, f func() (T, error)) (T, error) {
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

// asking records that a person is asked, before anything is written.
func asking(ctx context.Context) (answered func()) {
	u, ok := ctx.Value(underWayKey{}).(*underWay)
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

func (u *underWay) set(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text = text
}

// messageOf is what is said about the error that a command ends with. An interruption
// says what was under way; what was written by then, the command has said itself.
func (u *underWay) messageOf(code int, err error) string {
	_, own := errors.AsType[*exit](err)
	if code != exitInterrupted || own {
		return err.Error()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.text == "" {
		return "interrupted"
	}
	return "interrupted while " + u.text
}

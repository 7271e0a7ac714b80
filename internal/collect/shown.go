package collect

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// shown hands events on, and shows each of them to tell when it was received: the collector
// observes an event before it does anything else.
func shown(ctx context.Context, events <-chan object.Event, tell func(object.Event)) <-chan object.Event {
	out := make(chan object.Event)
	go func() {
		defer close(out)
		for e := range events {
			select {
			case out <- e:
				tell(e)
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

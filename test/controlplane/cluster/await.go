package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// Patience is how long anything may take that has to happen: so long that no machine
// is too slow. Whoever waits goes on as soon as it has happened.
const Patience = 5 * time.Minute

// The first looks follow one another quickly; what takes longer is looked at less
// often.
const (
	soonest = 5 * time.Millisecond
	latest  = 250 * time.Millisecond
)

// Await looks until something holds, and fails after Patience, with the context, or
// with the error of a look. What is waited for is named in the error.
func Await(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := soonest; ; wait = min(wait*3/2, latest) {
		ok, err := holds(ctx)
		if err != nil {
			return fmt.Errorf("while waiting until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not come true that %s: %w", what, ctx.Err())
		case <-pause.C:
		}
	}
}

// Until is Await for tests: it ends a test for which something does not come true.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	// The context of a test ends before what the test cleans up.
	err := Await(context.WithoutCancel(t.Context()), what, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

package differential

import (
	"context"
	"errors"
	"sync"
	"time"
)

// each calls do for n slots, some at a time, and returns all errors.
func each(n int, do func(slot int) error) error {
	const most = 16
	var wg sync.WaitGroup
	errs := make([]error, n)
	places := make(chan struct{}, most)
	for slot := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			errs[slot] = do(slot)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// pause waits: a real collector is not told to hurry.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

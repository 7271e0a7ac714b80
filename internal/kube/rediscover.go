package kube

import (
	"context"
	"errors"
	"time"
)

// isContext reports whether an error comes from the end of a context and not from the server.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// rediscover runs discovery, unless another call has done so since this one began. Concurrent calls
// share one discovery.
func (c *Client) rediscover(ctx context.Context) (*Discovery, error) {
	came := time.Now()
	select {
	case c.discovering <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.discovering }()
	if d := c.discovery.Load(); d != nil && d.At.After(came) {
		return d, nil
	}
	return c.Discover(ctx)
}

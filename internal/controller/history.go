package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// flushing is how often the history is written to the disk.
const flushing = 5 * time.Second

// chronicle keeps the history of the cluster while the collector runs.
type chronicle struct {
	*kept.Recorder
	s    *service
	stop context.CancelFunc
	done sync.WaitGroup
}

// keepHistory begins to keep the history, if it is wanted; nil if not.
func (s *service) keepHistory(ctx context.Context) (*chronicle, error) {
	if s.o.History.Dir == "" {
		return nil, nil
	}
	id, err := s.client.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	o := s.o.History
	o.Now = time.Now
	r, err := kept.NewRecorder(o, kept.Cluster{UID: id.ClusterUID, Server: id.Server, Context: id.Context, Version: id.Version})
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("keeping history", "directory", o.Dir, "encrypted", o.Key != nil, "secrets", o.Secrets)
	return &chronicle{Recorder: r, s: s}, nil
}

// follow writes down what the feed reads, until end is called.
func (c *chronicle) follow(ctx context.Context, feed *kube.Feed) {
	ctx, c.stop = context.WithCancel(ctx)
	c.done.Go(func() {
		select {
		case <-feed.Synced():
			c.Synced()
			c.bridge(ctx)
		case <-ctx.Done():
		}
	})
	c.done.Go(func() {
		tick := time.NewTicker(flushing)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.report(c.Flush())
			case <-ctx.Done():
				return
			}
		}
	})
}

// bridge fills the time since the last run with what the server remembers of it.
func (c *chronicle) bridge(ctx context.Context) {
	if c.Last() == 0 {
		return
	}
	past, err := c.s.client.Past(ctx, history.Window{SinceRevision: c.Last()})
	if err == nil {
		err = c.Bridge(ctx, past, c.s.client)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.s.o.Log.Warn("nothing is known of what happened while the controller was away", "error", err)
	case past.From.Revision > c.Last():
		c.s.o.Log.Warn("the server does not remember all that happened while the controller was away", "from", c.Last(), "to", past.From.Revision)
	}
}

func (c *chronicle) report(err error) {
	if err != nil {
		c.s.o.Log.Error("the history could not be written", "error", err)
	}
}

// end has on the disk what was seen.
func (c *chronicle) end() {
	if c.stop != nil {
		c.stop()
	}
	c.done.Wait()
	if err := c.Close(); !errors.Is(err, context.Canceled) {
		c.report(err)
	}
}

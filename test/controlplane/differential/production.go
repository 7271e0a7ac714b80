package differential

import (
	"context"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/collect"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// production is a real API server with our collector as it is shipped: its client,
// its watches, and no request for what it knows already. It sends fewer requests than
// upstream, so that only the ends are compared.
type production struct {
	*live
	stop   context.CancelFunc
	done   sync.WaitGroup
	failed error
}

var _ site = (*production)(nil)

// collect starts the collector.
func (p *production) collect() error {
	client, err := p.Connect(kube.Options{Command: "differential"})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(func() {
		defer client.Close()
		err := collect.Run(ctx, client, collect.Options{Rules: engine.Upstream, Run: engine.RunOptions{Workers: workers}})
		if ctx.Err() == nil {
			p.failed = err
		}
	})
	return nil
}

// rest ends the collector.
func (p *production) rest() error {
	if p.stop == nil {
		return nil
	}
	p.stop()
	p.done.Wait()
	p.stop = nil
	return p.failed
}

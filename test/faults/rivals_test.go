package faults

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// rivals are the faults of who may write, and when.
var rivals = []row{
	{"L53_cancelled", "the run is cancelled while a DELETE is under way", "that one is waited for, and no further one starts", cancelled},
	{"L56_lease_lost", "the lease is lost in mid-cascade", "no write starts after that", leaseLost},
	{"L58_two_leaders", "two collectors believe that they lead", "what is garbage goes once, everything else stays", leaders(engine.Strict)},
	{"L61_beside_upstream", "a collector with the rules of upstream works beside ours", "what is garbage goes once, everything else stays", leaders(engine.Upstream)},
}

func cancelled(t *testing.T) {
	c, home, waste := cascade(t)
	h := hold()
	c.strike(1, at("delete", "secrets", ""), h.answer)
	c.collect(func(o *kube.CollectorOptions) { o.Run.Workers = 1 })
	c.fence()
	c.delete(home, "Background")
	<-h.came
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.halt()
	}()
	close(h.free)
	<-ended
	gone := 0
	for _, o := range waste {
		if !c.lives(o) {
			gone++
		}
	}
	// The cancellation and the end of the request under way may meet.
	if gone == 0 || gone == len(waste) {
		t.Errorf("%d of %d are gone", gone, len(waste))
	}
}

func leaseLost(t *testing.T) {
	c, home, waste := cascade(t)
	var lost, allowed atomic.Int64
	c.collect(func(o *kube.CollectorOptions) {
		o.Run.Before = func(_ context.Context, r engine.Request) error {
			if lost.Load() > 0 {
				return errors.New("the lease is lost")
			}
			if r.Ref.Kind == "Secret" && allowed.Add(1) == 5 {
				lost.Store(1)
			}
			return nil
		}
		o.Run.Workers = 1
	})
	c.fence()
	c.delete(home, "Background")
	c.judged(waste[len(waste)-1], reason.NoExistingOwner)
	c.until("all have been judged", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.records) > len(waste)
	})
	gone := 0
	for _, o := range waste {
		if !c.lives(o) {
			gone++
		}
	}
	if gone != 5 {
		t.Errorf("%d are gone", gone)
	}
}

// leaders has a second collector beside the first.
func leaders(rules engine.Rules) func(*testing.T) {
	return func(t *testing.T) {
		c, home, waste := cascade(t)
		alive := one("ConfigMap", "alive")
		c.create(alive)
		var kept []*object.Object
		for i := range 10 {
			o := one("Secret", fmt.Sprintf("kept-%d", i), to(alive))
			kept = append(kept, o)
			c.create(o)
		}
		promised := one("ConfigMap", "promised")
		released := one("Widget", "released", to(promised))
		c.create(promised)
		c.create(released)
		c.collect()
		second := c.collector(c.connect(kube.Options{}), func(o *kube.CollectorOptions) { o.Rules = rules })
		t.Cleanup(second)
		c.fence()
		c.delete(home, "Foreground")
		c.delete(promised, "Orphan")
		c.goes(append(waste, home, promised)...)
		c.stays(append(kept, released)...)
		second()
	}
}

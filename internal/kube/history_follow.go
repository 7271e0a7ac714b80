package kube

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Following is a past that goes on.
type Following struct {
	// Window is how it begins.
	Window history.Window
	// Take is handed what the server remembers, and then each past that follows the one before,
	// when something was lost and that has come to rest. What it returns ends all.
	Take func(*history.Past) error
	// Trouble is told what goes wrong for a while; it is tried again.
	Trouble func(error)
	// tick is the time between two looks; 0 for pastTick.
	tick time.Duration
}

// Between two looks at the clock of the server is so much time, and a loss waits for others that
// belong to it until there is none between two looks, or for so long.
const (
	pastTick = 2 * time.Second
	mostRest = 10 * time.Second
	// longUnwell is for how long a kind that cannot be watched holds up what is known of others.
	longUnwell = 30 * time.Second
	// muchPending is how many changes are handed over even if nothing was lost.
	muchPending = 5000
)

// FollowPast tells of the past and goes on with it, until the context ends or Take fails. It lists
// every kind once, for a watch says what a write has left and not what was there before, and
// keeps the watches: beside them it sends one small request for each look at the clock.
//
// Where a watch has missed something, what the server remembers of the meantime is read as the
// past was at first, with what that says of its limits.
func (c *Client) FollowPast(ctx context.Context, o Following) error {
	ctx, stop := context.WithCancel(ctx)
	p := &pastFollower{client: c, o: o, clock: clockReader{client: c}, states: map[pastPlace]*object.Object{}, ended: map[schema.GroupResource]bool{}}
	p.feed = c.Follow(ctx, FollowOptions{
		Wants: func(r object.Resource) bool { return !history.Ordinary(r) }, Namespace: p.onlyNamespace(), State: p.note,
	})
	defer func() {
		stop()
		for range p.feed.Events() { // until all watches have ended
		}
		<-p.feed.Done()
	}()
	return p.run(ctx)
}

// pastFollower is one FollowPast.
type pastFollower struct {
	client *Client
	o      Following
	feed   *Feed
	clock  clockReader
	// states are the objects as the feed has shown them last.
	states map[pastPlace]*object.Object
	// pending are the changes behind what was handed over, and maybe some that came late.
	pending []history.Change
	// losses counts those among them that are losses, counted is that at the last look, and
	// since when the first of them waits.
	losses, counted int
	since           time.Time
	// first is where the past ended that was read at first, to where the last one that was
	// handed over did; seen is the last look at the clock, highest the highest revision seen.
	first    uint64
	to, seen history.Moment
	highest  uint64
	// lacking are the kinds of which nothing can be read, ended those whose definition is gone.
	lacking []history.Limit
	ended   map[schema.GroupResource]bool
	// unwell is since when a kind cannot be watched.
	unwell time.Time
	// keeps is false while everything is listed for the first time.
	keeps bool

	mu    sync.Mutex
	holes map[schema.GroupResource]bool
}

// pastPlace is where an object is, whatever its version and uid.
type pastPlace struct{ group, kind, namespace, name string }

func pastPlaceOf(r object.Ref) pastPlace { return pastPlace{r.Group(), r.Kind, r.Namespace, r.Name} }

// onlyNamespace is the one that is asked about, if it is one.
func (p *pastFollower) onlyNamespace() string {
	if len(p.o.Window.Namespaces) == 1 {
		return p.o.Window.Namespaces[0]
	}
	return ""
}

// note takes a note of kinds whose watch has broken off.
func (p *pastFollower) note(k KindState) {
	if k.State != Broken && (k.State != Syncing || k.Why == "") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holes == nil {
		p.holes = map[schema.GroupResource]bool{}
	}
	p.holes[k.Resource.GroupResource()] = true
}

// reading is a past that was read.
type reading struct {
	past *history.Past
	err  error
}

func (p *pastFollower) run(ctx context.Context) error {
	readings := make(chan reading, 1)
	read := func(w history.Window) {
		p.missed() // is going to be read
		go func() {
			past, err := p.client.Past(ctx, w)
			readings <- reading{past, err}
		}()
	}
	synced, busy := p.feed.Synced(), true // until the first past is there
	ticks := time.NewTicker(cmp.Or(p.o.tick, pastTick))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			if p.first == 0 {
				return ctx.Err()
			}
			return nil
		case e, open := <-p.feed.Events():
			if open {
				p.see(e)
			}
		case <-synced:
			synced, p.keeps = nil, true
			read(p.o.Window)
		case r := <-readings:
			if err := p.took(ctx, r); err != nil {
				return err
			}
			busy = false
		case <-ticks.C:
			if busy {
				continue
			}
			behind, err := p.look(ctx)
			if err != nil {
				return err
			}
			if behind {
				busy = true
				read(history.Window{SinceRevision: p.to.Revision, Namespaces: p.o.Window.Namespaces})
			}
		}
	}
}

// took hands over a past that was read, and what came behind it goes on.
func (p *pastFollower) took(ctx context.Context, r reading) error {
	if r.err != nil {
		if p.first == 0 {
			return r.err
		}
		p.tell(ctx, r.err)
		return nil // it is tried again
	}
	if p.to = r.past.To; p.first == 0 {
		p.first = p.to.Revision
	}
	p.unwell, p.seen = time.Time{}, history.Moment{}
	p.drop(func(c *history.Change) bool { return c.Revision <= p.to.Revision })
	p.lacking = slices.DeleteFunc(slices.Clone(r.past.Limits), func(l history.Limit) bool { return l.From.Revision != 0 })
	return p.o.Take(r.past)
}

func (p *pastFollower) tell(ctx context.Context, err error) {
	if ctx.Err() == nil && p.o.Trouble != nil {
		p.o.Trouble(err)
	}
}

// drop forgets pending changes.
func (p *pastFollower) drop(old func(*history.Change) bool) {
	p.pending = slices.DeleteFunc(p.pending, func(c history.Change) bool { return old(&c) })
	p.losses = 0
	for i := range p.pending {
		if loses(&p.pending[i]) {
			p.losses++
		}
	}
	p.counted = 0
	p.since = time.Now()
}

// see takes a change that the feed tells of.
func (p *pastFollower) see(e object.Event) {
	o, at := e.Object, pastPlaceOf(e.Object.Ref)
	old := p.states[at]
	if old != nil && old.UID != o.UID {
		old = nil
	}
	if crd := o.Definition(); crd != nil {
		p.ended[schema.GroupResource{Group: crd.Group, Resource: crd.Plural}] = e.Type == object.Deleted
	}
	switch {
	case e.Type == object.Deleted && (old != nil || p.states[at] == nil):
		delete(p.states, at)
	case e.Type != object.Deleted:
		p.states[at] = o
	}
	revision, ok := revisionOf(o)
	if !ok {
		return // that it is gone is all that is known, and its kind has a hole
	}
	p.highest = max(p.highest, revision)
	if e.Type == object.Added && old != nil {
		e.Type = object.Modified
	}
	outside := o.Namespace != "" && p.o.Window.Namespaces != nil && !slices.Contains(p.o.Window.Namespaces, o.Namespace)
	if !p.keeps || outside || revision <= p.first || e.Type == object.Modified && old != nil && !history.Tells(old, o) {
		return
	}
	c := history.Change{Revision: revision, Type: e.Type, Object: o, Old: old}
	if loses(&c) {
		if p.losses++; p.losses == 1 {
			p.since = time.Now()
		}
	}
	p.pending = append(p.pending, c)
}

// loses reports whether somebody may have lost something by a change.
func loses(c *history.Change) bool {
	return c.Type == object.Deleted || c.Object.BeingDeleted() && (c.Old == nil || !c.Old.BeingDeleted()) ||
		c.Old != nil && len(c.Old.Owners) > len(c.Object.Owners)
}

package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// cause tells what follows from our requests from what happens beside them. Most runs
// never ask: only where something had changed before the seed, or others change
// something while we collect. So each part is worked out when somebody asks.
type cause struct {
	snap   *snapshot.Snapshot
	seed   Seed
	rules  engine.Rules
	tracks *outcome.Tracks
	// writes lists the requests of a collection up to now.
	writes func() []Write
	// ways is the map of the snapshot as it was before the first of our requests. Its
	// graph is nobody's who goes on.
	ways *impact.Map
	// from is what deletes of the objects of our requests may touch.
	from *impact.Set
	// withoutUs is how objects end that go or change with what others had deleted before,
	// and without our requests; nil for those that go.
	withoutUs map[outcome.Key]*object.Object
}

// caused reports whether what happened to an object follows from our requests, or may.
// What would have happened anyway does, too, where it is on their way.
func (c *cause) caused(tr *outcome.Track) bool {
	switch {
	case tr.Target:
		return true
	case tr.Changed == 0, tr.Awaited:
		return false
	case c.seed.Verb == Delete && c.Follows(tr):
		return true
	default:
		return c.reaches(tr.First)
	}
}

// Follows reports whether something happened to an object after our requests, and because
// of them. Where it happened only when finalizers came off what others had deleted before,
// it has to be on the way of ours, and must not go with theirs alone.
func (c *cause) Follows(tr *outcome.Track) bool {
	switch {
	case tr.Awaited:
		return false
	case tr.Changed&(outcome.AfterSeed|outcome.AfterRelease|outcome.InLaterFuture) != 0:
		return true
	case tr.Changed&(outcome.AfterOthers|outcome.LaterOfOthers) == 0:
		return false
	default:
		return c.reaches(tr.First) && !c.endsSoWithoutUs(tr)
	}
}

// Besides reports whether an object was only looked at because of what others had deleted
// before.
func (c *cause) Besides(tr *outcome.Track) bool {
	return tr.Decision.Phase&(outcome.AfterOthers|outcome.LaterOfOthers) != 0 && !c.reaches(tr.First)
}

// reaches reports whether deletes of the objects of our requests may touch an object.
func (c *cause) reaches(o *object.Object) bool {
	if c.from == nil {
		c.reachOn(c.paths())
	}
	return c.from.Has(o)
}

// paths is the map of the snapshot as it was before the first of our requests.
func (c *cause) paths() *impact.Map {
	if c.ways == nil {
		c.ways = impact.New(c.snap, Start(c.snap, engine.Upstream).Graph())
	}
	return c.ways
}

// reachOn finds what deletes of the objects of our requests may touch, on a map of the
// snapshot as it was before the first of them.
func (c *cause) reachOn(m *impact.Map) {
	c.from = m.From(c.requested()...)
}

// requested are the objects of our requests: of a collection those that it has written
// to.
func (c *cause) requested() []*object.Object {
	var list []*object.Object
	add := func(ref object.Ref) {
		if o := c.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			list = append(list, o)
		}
	}
	for _, ref := range c.seed.Targets {
		add(ref)
	}
	if c.seed.Verb == Collect {
		for _, w := range c.writes() {
			add(w.Object)
		}
	}
	return list
}

// endsSoWithoutUs reports whether an object goes, or ends as it does, when the finalizers
// come off what others had deleted before, although we ask for nothing.
func (c *cause) endsSoWithoutUs(tr *outcome.Track) bool {
	if c.withoutUs == nil {
		c.withoutUs = c.endsWithoutUs()
	}
	end, touched := c.withoutUs[c.tracks.Key(tr.First)]
	if !touched || end == nil {
		return touched
	}
	return tr.Last != nil && end.BeingDeleted() == tr.Last.BeingDeleted() && slices.Equal(end.Owners, tr.Last.Owners) &&
		slices.Equal(end.Finalizers(), tr.Last.Finalizers())
}

// endsWithoutUs has every finalizer come off what others had deleted before, in a run
// without our requests, and returns how what it touches ends.
func (c *cause) endsWithoutUs() map[outcome.Key]*object.Object {
	var theirs []*object.Object
	for _, tr := range c.tracks.All() {
		if tr.Awaited {
			theirs = append(theirs, tr.First)
		}
	}
	ends := map[outcome.Key]*object.Object{}
	other := newSimulation(c.paths().Part(theirs...), CollectSeed(), Options{Rules: c.rules, NoSteps: true})
	other.recorder.silent = true
	// The only error is that of a context that ends. Then nothing is known to happen.
	if err := other.atOnce(context.Background(), nil); err != nil {
		return ends
	}
	for _, o := range theirs {
		other.tracks.Of(o).Awaited = true
	}
	other.awaited.deletedBefore = new(false) // there are no others than these
	alone := future{wanted: everyRelease, ours: outcome.LaterOfOthers, others: outcome.LaterOfOthers}
	if _, err := other.release(context.Background(), nil, alone); err != nil {
		return ends
	}
	for _, o := range other.snap.Objects {
		if tr := other.tracks.Known(o); tr != nil && tr.Changed != 0 {
			ends[c.tracks.Key(o)] = tr.Last
		}
	}
	return ends
}

// claim notes of what would have gone anyway that a request of ours takes it, too:
// nobody knows who is faster, and it is gone afterwards.
func (c *cause) claim(all *outcome.Outcomes) {
	for _, out := range all.All() {
		if out.AlreadyHappening && (c.caused(out.Track) || out.Result == report.Unknown && c.reaches(out.Track.First)) {
			out.Anyway = true
		}
	}
}

// exonerate notes of what is contested elsewhere that it would be so without our
// requests, too: what the collector remembers of the deletions of others is no doing of
// ours.
func (c *cause) exonerate(all *outcome.Outcomes) {
	if c.seed.Verb == Collect {
		return
	}
	for key, out := range all.All() {
		if !out.DependsOnTiming || out.AlreadyHappening || c.reaches(out.Track.First) {
			continue
		}
		if tr := c.tracks.At(key); tr == nil || !c.caused(tr) {
			out.AlreadyHappening = true
		}
	}
}

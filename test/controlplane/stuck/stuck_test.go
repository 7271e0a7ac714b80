package stuck

import (
	"cmp"
	"context"
	"slices"
	"testing"
)

// Every situation is built and asked about: those that need the controllers away
// first, those that disturb the whole cluster last.
func TestSituations(t *testing.T) {
	all := situations(t)
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	var quiet, usual, broken []*situation
	for _, one := range all {
		switch {
		case one.Quiet:
			quiet = append(quiet, one)
		case one.Broken:
			broken = append(broken, one)
		default:
			usual = append(usual, one)
		}
	}
	// What can be repaired afterwards comes first.
	slices.SortStableFunc(broken, func(a, b *situation) int { return cmp.Compare(len(b.After), len(a.After)) })
	s.prepare(all)
	made := func(ctx context.Context, one *situation) error { return one.do(ctx, one.Made) }
	then := func(ctx context.Context, one *situation) error { return one.do(ctx, one.Then) }
	wait := func(ctx context.Context, one *situation) error { return one.await(ctx) }
	age := func(ctx context.Context, one *situation) error { return one.age(ctx) }

	phase := s.stopwatch()
	s.each(append(quiet, usual...), made)
	s.each(quiet, then)
	s.each(quiet, wait)
	s.each(quiet, age)
	for _, one := range quiet {
		s.ask(one, false)
	}
	phase("without controllers")
	s.control()
	s.each(usual, then)
	s.each(usual, wait)
	s.fence("usual")
	s.each(usual, age)
	s.fence("aged")
	phase("built")
	for _, one := range usual {
		s.ask(one, true)
	}
	s.askAll(usual)
	s.saved(usual)
	phase("asked")
	for _, one := range append(quiet, usual...) {
		s.cameAbout(one)
	}
	for _, one := range broken {
		alone := []*situation{one}
		s.each(alone, made)
		s.each(alone, then)
		s.each(alone, wait)
		s.each(alone, age)
		s.ask(one, true)
		s.cameAbout(one)
		s.each(alone, func(ctx context.Context, one *situation) error { return one.do(ctx, one.After) })
	}
	phase("broken")
	s.tell(all)
}

package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// batch carries stories out, each in two worlds of its own, some of them at a time.
func (s *stage) batch(ctx context.Context, all []*trial, who controllers) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.set(within, all, who); err != nil {
		return err
	}
	errs := make([]error, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range *workers {
		group.Go(func() {
			for i := range next {
				if err := all[i].run(within); err != nil {
					errs[i] = fmt.Errorf("seed %d: %w", all[i].story.seed, err)
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	stop()
	if err := errors.Join(append(errs, s.failed())...); err != nil {
		return err
	}
	for _, t := range all {
		t.sort()
	}
	return s.strike(ctx, all)
}

// tell is what went wrong in a run, and the story, for somebody who has to repeat it.
func (t *trial) tell(everything bool) string {
	var b strings.Builder
	b.WriteString("\n" + t.ours.plain(t.story.String()))
	for _, d := range t.deeds {
		fmt.Fprintf(&b, "  happened: %s somebody %s: %s (%d)\n", d.when, d.do, t.ours.plain(d.key.String()), d.code)
	}
	fmt.Fprintf(&b, "  exit code %d\n", t.ran.code)
	for _, w := range t.writes {
		if !w.rehearsed() {
			fmt.Fprintf(&b, "  wrote: %s %d\n", t.ours.plain(w.String()), w.Response.Code)
		}
	}
	for _, v := range t.wrong {
		fmt.Fprintf(&b, "  WRONG: %s: %s: %s\n", v.rule, t.ours.plain(v.object.String()), t.ours.plain(strings.TrimSpace(v.text)))
	}
	if everything {
		b.WriteString(t.ours.plain(t.shown.String() + t.ran.String()))
		for _, u := range t.undoSaid {
			b.WriteString(t.ours.plain(u.String()))
		}
	}
	return b.String()
}

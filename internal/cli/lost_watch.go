package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lostWatch is a `lost --watch`: it keeps the past that it has seen.
type lostWatch struct {
	*losing
	c     *cobra.Command
	named *lostNames
	asked lost.Question
	// past is what is known, last what was said of it; nil before the first answer.
	past *history.Past
	last *report.Lost
	// began is when the first answer was.
	began  history.Moment
	stage  *progress.Stage
	failed string
}

// mostRemembered is how many changes are kept: with more the oldest are forgotten. Most are of
// objects that came, or of which the spec was changed.
const mostRemembered = 200_000

// forgotten is after how many seconds an API server has forgotten what went, as a rule.
const forgotten = 600

// watchOn prints what was lost, and then each request and loss as it becomes known. Its end is
// that somebody interrupts it.
func (k *losing) watchOn(c *cobra.Command, named *lostNames) error {
	client, err := k.source.Open(c, &k.namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	record, err := source.RecordOf(c.Context(), client)
	if err != nil {
		return err
	}
	q, scope, err := k.question(record, named)
	if err != nil {
		return err
	}
	w := &lostWatch{losing: k, c: c, named: named, asked: q, stage: progress.Begin(c, k.streams.ErrOut, "reading the history of the cluster")}
	defer w.read()
	err = client.FollowPast(c.Context(), kube.Following{Window: k.window(w.stage, scope), Take: w.take, Trouble: w.trouble})
	if err != nil {
		return k.wayOut(err)
	}
	return exit.UnlessComplete(k.requireComplete, w.last.Complete)
}

// read says that the past is read.
func (w *lostWatch) read() {
	if w.stage != nil {
		w.stage.End()
		w.stage = nil
	}
}

// take adds a past to what is known, and says what is new in it.
func (w *lostWatch) take(past *history.Past) error {
	w.failed = ""
	if w.past == nil {
		w.read()
		w.past, w.began = past, past.To
	} else {
		all, err := history.Join(w.past, past)
		if err != nil { // it was cut off for so long that the server has forgotten
			w.warn(err.Error())
			all, w.began = past, past.To
		}
		if n := len(all.Changes); n > mostRemembered {
			all = all.Since(all.Changes[n/4].Revision)
		}
		w.past = all
	}
	q := w.asked
	var err error
	if q.Objects, err = w.named.objects(w.past); err != nil {
		return err
	}
	if q.Since > 0 && w.began.Time > 0 {
		q.Since += time.Duration(w.past.To.Time-w.began.Time) * time.Second
	}
	q.UndoAfter = w.past.Clock.Before(w.past.To.Time - forgotten).Revision
	return w.say(lost.Document(history.Trace(w.past), q), q.UndoAfter)
}

func (w *lostWatch) say(now *report.Lost, undoAfter uint64) error {
	before := w.last
	w.last = now
	if before == nil {
		return w.show(w.c, now)
	}
	news := lost.News(before, now, undoAfter)
	if news == nil {
		return nil
	}
	return w.output.Show(w.c, w.streams.Out, now, output.As(render.LostNews, news))
}

// trouble tells of a look that failed, once.
func (w *lostWatch) trouble(err error) {
	if err.Error() != w.failed {
		w.failed = err.Error()
		w.warn(w.failed + "; trying again")
	}
}

func (w *lostWatch) warn(text string) {
	fmt.Fprintln(w.streams.ErrOut, "warning: "+render.EscapeLines(text))
}

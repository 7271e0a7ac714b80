package render

import (
	"bufio"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LostNews says what became known since the last answer: a document of nothing else. Wide, it
// lists every object.
func LostNews(out io.Writer, s Style, news *report.Lost) error {
	s = s.screen()
	l := lookAt(news)
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	requests := requestsByToll(l)
	if len(l.Losses) > 0 {
		w.line()
	}
	switch {
	case len(l.Losses) == 0:
		writeNotes(w, lostNotes(s, l))
	case s.Wide:
		w.everyLoss(l)
	case len(requests) > 0:
		w.requests(l, requests, true, screenLines)
		w.unasked(l)
	default:
		w.prose(newlyGone(s, l)+", and no request explains it.", 2)
		w.unasked(l)
	}
	w.lostRemedies(l)
	return w.done()
}

// newlyGone says what went, where there was no request.
func newlyGone(s Style, l *lostLook) string {
	if len(l.Losses) == 1 {
		return unaskedHeadline(s, l)
	}
	return plural(len(l.Losses), "object") + " went since " + momentText(s, l, l.Losses[0].Began)
}

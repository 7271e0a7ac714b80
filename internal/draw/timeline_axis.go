package draw

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// axis maps moments to positions between the start and the end of the history: by time if both are
// known, else by revision.
type axis struct {
	from, to int64
	timed    bool
	words    *render.LostPage
	// Ticks are the labels below the lanes.
	Ticks []tick
}

// tick is a labelled moment.
type tick struct{ X, Anchor, Name string }

// unseenPart is the start of the history on the axis, in percent. The part to its left is unknown.
const unseenPart = 4

func newAxis(d *report.Lost, words *render.LostPage) axis {
	a := axis{from: d.From.Revision, to: d.To.Revision, words: words}
	from, known := words.Seconds(d.From)
	to, alsoKnown := words.Seconds(d.To)
	if known && alsoKnown && to > from {
		a = axis{from: from, to: to, timed: true, words: words}
	}
	first := words.Clock(d.From)
	a.Ticks = []tick{{percent(unseenPart), "start", first}, {"100%", "end", words.Clock(d.To)}}
	if !a.timed || len(first) > len("15:04:05") {
		return a
	}
	step := stepOf(a.to - a.from)
	for at := (a.from/step + 1) * step; at < a.to; at += step {
		if x := a.at(at); x > 29 && x < 75 { // next to the labels of both ends there is room on a phone, too
			a.Ticks = append(a.Ticks, tick{percent(x), "middle", words.ClockAt(at)})
		}
	}
	return a
}

// stepOf returns the distance of ticks, which allows about four.
func stepOf(span int64) int64 {
	const minute, hour = 60, 3600
	for _, step := range []int64{1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 6 * hour} {
		if span/step <= 4 {
			return step
		}
	}
	return span/4 + 1
}

// at returns the position of a time or revision, in percent.
func (a axis) at(value int64) float64 {
	if a.to <= a.from {
		return unseenPart
	}
	value = min(max(value, a.from), a.to)
	return unseenPart + (100-unseenPart)*float64(value-a.from)/float64(a.to-a.from)
}

// place returns the position of a moment. A moment without a time is before the first one with a
// time.
func (a axis) place(m report.Moment) float64 {
	if !a.timed {
		return a.at(m.Revision)
	}
	seconds, _ := a.words.Seconds(m)
	return a.at(seconds)
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// span is the time since when a kind is known.
type span struct {
	Name, From string
	// X is its start, in percent; empty if the kind is unknown. At is the position of the text.
	X, At, By, Anchor string
}

// mostSpans is the number of kinds with a shorter history that are drawn; the notes name more.
const mostSpans = 6

// spansOf returns the kinds with a shorter history than others.
func spansOf(d *report.Lost, x axis, words *render.LostPage) []span {
	var list []span
	for _, l := range d.Limits {
		at := x.place(l.From)
		s := span{Name: words.Text(l.Resource), From: "known since " + words.Clock(l.From), X: percent(at), At: percent(at), By: "6", Anchor: "start"}
		if at > 50 {
			s.By, s.Anchor = "-6", "end"
		}
		list = append(list, s)
	}
	for _, g := range d.Gaps {
		list = append(list, span{Name: words.Text(g.Resource), From: "not known", At: "0", By: "8", Anchor: "start"})
	}
	return list[:min(len(list), mostSpans)]
}

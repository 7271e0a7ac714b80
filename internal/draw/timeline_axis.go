package draw

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// axis places moments between where history begins and where it ends: by time where both are
// known, else by revision.
type axis struct {
	from, to int64
	timed    bool
	words    *render.LostPage
	// Ticks are what is written below the lanes.
	Ticks []tick
}

// tick is a moment with its name.
type tick struct{ X, Anchor, Name string }

// unseenPart is where history begins on the axis, in percent: what is left of it is not known.
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
		if x := a.at(at); x > 29 && x < 75 { // beside the ends there is room on a phone, too
			a.Ticks = append(a.Ticks, tick{percent(x), "middle", words.ClockAt(at)})
		}
	}
	return a
}

// stepOf is how far apart ticks are, so that no more than three are in between.
func stepOf(span int64) int64 {
	const minute, hour = 60, 3600
	for _, step := range []int64{1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 6 * hour} {
		if span/step <= 4 {
			return step
		}
	}
	return span/4 + 1
}

// at is the place of a time or revision, in percent.
func (a axis) at(value int64) float64 {
	if a.to <= a.from {
		return unseenPart
	}
	value = min(max(value, a.from), a.to)
	return unseenPart + (100-unseenPart)*float64(value-a.from)/float64(a.to-a.from)
}

// place is that of a moment. Where no time of it is known it is from before the first that is.
func (a axis) place(m report.Moment) float64 {
	if !a.timed {
		return a.at(m.Revision)
	}
	seconds, _ := a.words.Seconds(m)
	return a.at(seconds)
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// span is since when something is known of a kind.
type span struct {
	Name, From string
	// X is where it begins, in percent; empty where nothing is known. The words stand there.
	X, At, By, Anchor string
}

// mostSpans is how many kinds are drawn of which less is known; the notes have more.
const mostSpans = 6

// spansOf are the kinds of which less is known than of the others.
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

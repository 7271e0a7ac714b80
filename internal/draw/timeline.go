package draw

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var (
	//go:embed web/dist/timeline.css
	timelineStyle string
	//go:embed timeline.html
	timelineFrame string
)

var timelineTemplate = template.Must(template.New("timeline").Parse(timelineFrame))

// The limits of a page: drawn lanes, listed other lanes, moments of a lane that are shown at once,
// and listed objects. The rest is counted or can be opened.
const (
	maxLanes   = 30
	maxOthers  = 1000
	maxMoments = 60
	maxListed  = 10_000
)

// timeline is the content of a page about losses.
type timeline struct {
	Policy, Title, Source, More string
	Style                       template.CSS
	Parts, Remedies             []render.LabelledText
	Notes                       []string
	Axis                        axis
	Spans                       []span
	// Lanes are drawn and listed; Others are only listed and can be opened. Routine counts what is
	// hidden at first.
	Lanes, Others, Usual []*lane
	Routine              int
	// Unlisted counts the objects that are not listed individually.
	Unlisted int
}

// WriteTimeline writes a page about losses: the deletes, with their objects and times. It needs no
// script.
func WriteTimeline(w io.Writer, d *report.Lost, connection report.Connection) error {
	t := timelineOf(d, connection)
	t.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(timelineStyle))
	t.Style = template.CSS(timelineStyle)
	return timelineTemplate.Execute(w, t)
}

func timelineOf(d *report.Lost, connection report.Connection) *timeline {
	words := render.NewLostPage(d, connection)
	x := newAxis(d, words)
	t := &timeline{
		Title: words.Answer(), Source: sourceWords(d, words), More: words.More(), Parts: words.Parts(), Remedies: words.Remedies(),
		Notes: words.Notes(), Axis: x, Spans: spansOf(d, x, words),
	}
	l := &laneBuilder{doc: d, words: words, axis: x}
	lanes := l.lanes()
	drawn := largest(lanes, maxLanes)
	for _, lane := range lanes {
		t.Routine += lane.usual
		switch {
		case lane.Routine:
			t.Usual = append(t.Usual, lane)
			t.Routine += lane.count
		case drawn[lane] || lane.Request == 0:
			t.Lanes = append(t.Lanes, lane)
		case len(t.Others) < maxOthers:
			t.Others = append(t.Others, lane)
		default:
			t.Unlisted += lane.count
		}
	}
	t.Unlisted += l.unlisted
	return t
}

// largest returns the lanes with the most objects.
func largest(lanes []*lane, most int) map[*lane]bool {
	order := slices.DeleteFunc(slices.Clone(lanes), func(l *lane) bool { return l.Routine })
	slices.SortStableFunc(order, func(a, b *lane) int { return cmp.Compare(b.count, a.count) })
	return object.SetOf(order[:min(most, len(order))], func(l *lane) *lane { return l })
}

// sourceWords describes the source and the time of the answer.
func sourceWords(d *report.Lost, words *render.LostPage) string {
	parts := sourceParts(d.Source, d.To.Time)
	for i := range parts {
		parts[i] = words.Text(parts[i])
	}
	if !d.Complete {
		parts = append(parts, "Incomplete")
	}
	return strings.Join(parts, " · ")
}

package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lane is a request, or another cause of losses, with its losses over time.
type lane struct {
	ID, Name, Headline, Doubt string
	// Request is its number; 0 for losses without one.
	Request int
	Routine bool
	// X is the time of the request, Marks are the losses.
	X     string
	Marks []bar
	// Moments are shown; Later can be opened.
	Moments, Later []*moment
	// count is the number of objects, usual that of routine ones among them.
	count, usual int
	began        int64
}

// bar is the drawing of the losses at one moment.
type bar struct {
	X, Look, Name string
	Y, Height     int
	Routine       bool
}

// moment groups objects of one kind that were lost within a second, for the same reason.
type moment struct {
	Clock, Look, Words, Why string
	Routine                 bool
	Count                   int
	// Columns and Rows are the table of the objects. They are empty if the only object is named
	// already.
	Columns []string
	Rows    [][]string
	losses  []*report.Loss
	first   int64
	x       float64
}

// laneBuilder builds the lanes of a document.
type laneBuilder struct {
	doc              *report.Lost
	words            *render.LostPage
	axis             axis
	listed, unlisted int
}

// lanesWithoutRequest are the lanes of losses without a request, in their order.
var lanesWithoutRequest = []struct {
	id, name string
	codes    []reason.Code
}{
	{"collector", "Garbage collector", []reason.Code{reason.OwnerGone, reason.OwnerReplaced, reason.OwnerNamespaceMismatch, reason.OwnerWaits, reason.OwnerOrphans, reason.ReferenceRemoved}},
	{"controllers", "Controllers", []reason.Code{
		reason.NamespaceDeleted, reason.DefinitionDeleted, reason.AccountGone, reason.ServiceGone, reason.EndpointsGone, reason.ClaimGone,
		reason.VersionGone, reason.NodeGone, reason.Controller, reason.ControllerChanged, reason.Evicted, reason.CleanedUp,
	}},
	{"unexplained", "Not explained", nil},
}

func laneWithoutRequest(code string) int {
	return slices.IndexFunc(lanesWithoutRequest, func(who struct {
		id, name string
		codes    []reason.Code
	}) bool {
		return who.codes == nil || slices.Contains(who.codes, reason.Code(code))
	})
}

// lanes returns the requests in order, then losses without a request. Both have separate lanes for
// routine losses.
func (l *laneBuilder) lanes() []*lane {
	took := map[int][]*report.Loss{}
	alone := [2][][]*report.Loss{make([][]*report.Loss, len(lanesWithoutRequest)), make([][]*report.Loss, len(lanesWithoutRequest))}
	for i := range l.doc.Losses {
		switch x := &l.doc.Losses[i]; {
		case x.Request > 0:
			took[x.Request] = append(took[x.Request], x)
		case x.Routine:
			alone[1][laneWithoutRequest(x.Code)] = append(alone[1][laneWithoutRequest(x.Code)], x)
		default:
			alone[0][laneWithoutRequest(x.Code)] = append(alone[0][laneWithoutRequest(x.Code)], x)
		}
	}
	var list []*lane
	for i := range l.doc.Requests {
		r := &l.doc.Requests[i]
		if len(took[r.N]) == 0 {
			continue
		}
		out := &lane{
			ID: "request-" + strconv.Itoa(r.N), Name: l.words.Targets(r), Request: r.N, Routine: r.Routine, X: percent(l.axis.place(r.At)), began: r.At.Revision,
		}
		out.Headline, out.Doubt = l.words.Request(r)
		l.fill(out, took[r.N])
		list = append(list, out)
	}
	slices.SortStableFunc(list, func(a, b *lane) int { return cmp.Compare(a.began, b.began) })
	for routine, groups := range alone {
		for i, losses := range groups {
			if len(losses) == 0 {
				continue
			}
			who := lanesWithoutRequest[i]
			out := &lane{ID: who.id, Name: who.name, Headline: who.name + ": " + report.Plural(len(losses), "object"), Routine: routine == 1}
			if out.Routine {
				out.ID += "-usual"
			}
			l.fill(out, losses)
			list = append(list, out)
		}
	}
	return list
}

// fill groups losses into moments, ordered by time.
func (l *laneBuilder) fill(out *lane, losses []*report.Loss) {
	out.count = len(losses)
	var order []*moment
	at := map[string]*moment{}
	for _, x := range losses {
		when := lostAt(x)
		second := when.Time
		key := strings.Join([]string{second, x.Object.APIVersion, x.Object.Kind, string(x.State), strconv.FormatBool(x.Routine), l.words.CauseWithoutNames(x)}, "\x00")
		m := at[key]
		if m == nil {
			m = &moment{Clock: l.words.Clock(when), Look: lossLook(x), first: when.Revision, x: l.axis.place(when), Routine: x.Routine && !out.Routine}
			at[key] = m
			order = append(order, m)
		}
		if m.first = min(m.first, when.Revision); second == "" {
			m.Clock = l.words.Clock(report.Moment{Revision: m.first})
		}
		m.losses = append(m.losses, x)
	}
	slices.SortStableFunc(order, func(a, b *moment) int { return cmp.Compare(a.first, b.first) })
	shown := 0
	for _, m := range order {
		l.setTexts(m)
		out.Marks = append(out.Marks, barOf(m))
		if m.Routine {
			out.usual += m.Count
		} else {
			shown++
		}
		if shown <= maxMoments {
			out.Moments = append(out.Moments, m)
		} else {
			out.Later = append(out.Later, m)
		}
	}
}

// lostAt returns when an object was deleted, or when its deletion began if it still exists.
func lostAt(x *report.Loss) report.Moment {
	if x.Gone != nil {
		return *x.Gone
	}
	return x.Began
}

func lossLook(x *report.Loss) string {
	switch {
	case len(x.Or) > 0:
		return "unknown"
	case x.State == report.LossOrphaned:
		return "orphaned"
	case x.State == report.LossBeingDeleted:
		return "being-deleted"
	default:
		return "deleted"
	}
}

// setTexts sets the texts of a moment. It lists the objects if there are several, or if the
// deletion of the only one began earlier.
func (l *laneBuilder) setTexts(m *moment) {
	first := m.losses[0]
	m.Count, m.Why = len(m.losses), l.words.Cause(first)
	for _, x := range m.losses {
		if l.words.Cause(x) != m.Why {
			m.Why = l.words.CauseWithoutNames(first)
			break
		}
	}
	switch first.State {
	case report.LossBeingDeleted:
		m.Why += "; still Terminating"
	case report.LossOrphaned:
		m.Why += "; stays"
	case report.LossDeleted:
	}
	if m.Words = l.words.Kinds(m.Count, first.Object.APIVersion, first.Object.Kind); m.Count == 1 {
		m.Words = l.words.Name(first.Object)
		if l.needsNamespace(first) {
			m.Words += " in namespace " + l.words.Text(first.Object.Namespace)
		}
	}
	if m.Count > 1 || first.Began.Time != lostAt(first).Time {
		l.list(m)
	}
}

// needsNamespace reports whether the namespace of an object must be shown.
func (l *laneBuilder) needsNamespace(x *report.Loss) bool {
	return x.Object.Namespace != "" && l.doc.Namespace == "" && (x.By == nil || !x.By.Is(object.Namespace))
}

// list builds the table of a moment, unless the page already lists too many objects. A column with
// the same value in all rows is left out if the reader does not need the value.
func (l *laneBuilder) list(m *moment) {
	if l.listed+m.Count > maxListed {
		l.unlisted += m.Count
		return
	}
	l.listed += m.Count
	columns := []struct {
		name string
		cell func(*report.Loss) string
	}{
		{"Namespace", func(x *report.Loss) string { return l.words.Text(x.Object.Namespace) }},
		{"Deletion began", func(x *report.Loss) string {
			if x.Began.Time == lostAt(x).Time && x.Began.Time != "" {
				return ""
			}
			return l.words.Clock(x.Began)
		}},
		{"Why", l.words.Cause},
	}
	m.Columns = []string{"Object"}
	for _, x := range m.losses {
		m.Rows = append(m.Rows, []string{l.words.Name(x.Object)})
	}
	for _, c := range columns {
		cells := make([]string, len(m.losses))
		differ, filled := false, false
		for i, x := range m.losses {
			cells[i] = c.cell(x)
			differ, filled = differ || cells[i] != cells[0], filled || cells[i] != ""
		}
		if !differ && (c.name != "Deletion began" || !filled) && (c.name != "Namespace" || !l.needsNamespace(m.losses[0])) {
			continue
		}
		m.Columns = append(m.Columns, c.name)
		for i := range m.Rows {
			m.Rows[i] = append(m.Rows[i], cells[i])
		}
	}
}

// barOf returns the bar of a moment. Its height grows by 3 pixels for each doubling of the count.
func barOf(m *moment) bar {
	const most, lane = 18, 22
	height := min(most, 5+int(3*math.Log2(float64(m.Count))))
	return bar{X: percent(m.x), Look: m.Look, Name: m.Clock + ": " + m.Words, Y: (lane - height) / 2, Height: height, Routine: m.Routine}
}

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

// maxSpans is the number of kinds with a shorter history that are drawn; the notes name more.
const maxSpans = 6

// spansOf returns the kinds with a shorter history than others, then those without any.
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
	return list[:min(len(list), maxSpans)]
}

package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxLosses is the number of losses that a first screen lists.
const maxLosses = 10

// LostText prints the deletes with their losses and the data among them, then losses without a
// delete, how to restore them, and how far back that goes. Wide output lists every object.
func LostText(out io.Writer, s Style, document *report.Lost) error {
	s = s.forScreen()
	l := indexLosses(document)
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	below := linesOf(s, func(x *writer) { x.lostFooter(l) })
	x, crd := l.namedLoss(), l.crdLoss()
	switch found := l.Summary; {
	case crd != nil:
		w.unseenInstance(l, crd)
	case x != nil && x.State == report.LossDeleted && !l.isTarget(x):
		w.objectLoss(l, x)
	case found.Deleted+found.BeingDeleted+found.Orphaned > 0 && !s.Wide:
		w.lostScreen(l, maxScreenLines-len(below))
	case found.Deleted+found.BeingDeleted+found.Orphaned > 0:
		w.allLosses(l)
	default:
		w.prose(nothingLost(s, l), 2)
		if s.Wide {
			w.allLosses(l)
		}
	}
	w.lines(below)
	return w.done()
}

// lossIndex is a document with its losses indexed by request.
type lossIndex struct {
	*report.Lost
	// byRequest are the losses by the number of their request; 0 for those without one.
	byRequest map[int][]*report.Loss
	// targets are the targets of requests, with the numbers of these.
	targets map[object.Ref]int
}

func indexLosses(document *report.Lost) *lossIndex {
	l := &lossIndex{document, map[int][]*report.Loss{}, map[object.Ref]int{}}
	for i := range l.Requests {
		for _, o := range l.Requests[i].Objects {
			l.targets[o] = l.Requests[i].N
		}
	}
	for i := range l.Losses {
		x := &l.Losses[i]
		l.byRequest[x.Request] = append(l.byRequest[x.Request], x)
	}
	return l
}

// NotDeletedText returns the answer for named objects without any loss.
func NotDeletedText(document *report.Lost) string {
	l := indexLosses(document)
	history := "the history of the API server"
	if l.Source.Type != "cluster" {
		history = "its history"
	}
	text := notDeleted(Style{}, l) + " since " + momentText(Style{}, l, l.From) + ", where " + history + " begins"
	if l.From.Time == "" {
		text = notDeleted(Style{}, l) + ", as far back as " + history + " goes (" + momentText(Style{}, l, l.From) + ")"
	}
	if len(l.Gaps)+len(l.Limits) > 0 {
		return text + "; not all of that could be read"
	}
	return text + ": it was gone earlier, or never existed"
}

// notDeleted returns that the named objects were not deleted, as far as that was seen.
func notDeleted(s Style, l *lossIndex) string {
	were := pluralForm(len(l.Targets), " was", " were")
	if len(l.Gaps)+len(l.Limits) > 0 {
		return s.summarizeRefs(l.Targets, s.limit()) + were + " not seen to be deleted"
	}
	return s.summarizeRefs(l.Targets, s.limit()) + were + " not deleted"
}

// nothingLost returns the answer without losses.
func nothingLost(s Style, l *lossIndex) string {
	text := "Nothing was deleted"
	switch {
	case len(l.Targets) > 0:
		text = notDeleted(s, l)
	case len(l.Gaps)+len(l.Limits) > 0:
		text = "Nothing that could be read was deleted"
	}
	where := ""
	if l.Namespace != "" {
		where = " in namespace " + s.text(l.Namespace)
	}
	if l.From.Time == "" && l.Asked == nil {
		far := "the API server remembers"
		if l.isFromFile() {
			far = "the file goes"
		}
		return text + where + ", as far back as " + far + " (" + momentText(s, l, l.From) + ")."
	}
	text += where + " since " + momentText(s, l, l.From) + "."
	switch {
	case l.Asked != nil:
	case l.isFromFile():
		text += " That is as far back as the file goes."
	default:
		text += " That is as far back as the API server remembers."
	}
	return text
}

// lostScreen writes the answer within room lines: the requests with their losses, the largest
// first.
func (w *writer) lostScreen(l *lossIndex, room int) {
	s := w.style
	list := shortLossTable(s, l)
	var others []string
	if list == nil {
		others = linesOf(s, func(x *writer) { x.lossesWithoutRequest(l) })
		room -= len(others)
	} else {
		room -= list.height(s) + 1
	}
	requests := requestsByImpact(l)
	if len(requests) == 0 {
		w.prose(withoutRequestHeadline(s, l)+", and no request explains it.", 2)
	}
	w.requests(l, requests, list == nil, room)
	w.lines(others)
	if list != nil {
		w.titled("", list)
	}
}

// withoutRequestHeadline counts the losses without a request.
func withoutRequestHeadline(s Style, l *lossIndex) string {
	_, others := l.withoutRequest()
	if len(others) == 1 {
		return s.nameInNamespace(others[0].Object) + " was lost at " + momentText(s, l, others[0].Began)
	}
	return report.Plural(len(others), "object") + " were lost since " + momentText(s, l, l.From)
}

// requests writes the requests within room lines: with counts by kind, without them, or only the
// first ones.
func (w *writer) requests(l *lossIndex, list []*report.LostRequest, counted bool, room int) {
	whole := linesOf(w.style, func(x *writer) {
		for i, r := range list {
			if i > 0 && counted {
				x.line()
			}
			x.request(l, r, counted)
		}
	})
	if len(whole) <= room {
		w.lines(whole)
		return
	}
	for i, r := range list {
		block := linesOf(w.style, func(x *writer) { x.request(l, r, counted && i == 0) })
		if i > 0 || len(block) >= room {
			block = linesOf(w.style, func(x *writer) { x.briefRequest(l, r) })
		}
		if room -= len(block); i > 0 && room < 1 && (i < len(list)-1 || room < 0 || len(block) > 1) {
			w.prose("and "+moreRequests(list[i:])+": -o wide", 2)
			return
		}
		w.lines(block)
	}
}

func moreRequests(list []*report.LostRequest) string {
	took := 0
	for _, r := range list {
		took += r.Took
	}
	return report.Plural(len(list), "more delete") + ", of " + report.Plural(took, "object")
}

// requestsByImpact returns the relevant requests, those with the most data and losses first.
func requestsByImpact(l *lossIndex) []*report.LostRequest {
	var list []*report.LostRequest
	for i := range l.Requests {
		if r := &l.Requests[i]; !r.Routine && len(r.ByKind) > 0 {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *report.LostRequest) int {
		return cmp.Or(cmp.Compare(countData(b), countData(a)), cmp.Compare(b.Took, a.Took), object.TrueFirst(a.Certain, b.Certain))
	})
	return list
}

// countData counts the losses of a request that hold data.
func countData(r *report.LostRequest) int {
	n := 0
	for _, k := range r.ByKind {
		if k.Data != "" && k.State != report.LossOrphaned {
			n += k.Count
		}
	}
	return n
}

// shortLossTable returns a table of the losses if they are few, else nil. It has no rows if all
// losses are targets of requests.
func shortLossTable(s Style, l *lossIndex) *table {
	var list []*report.Loss
	told := true
	for i := range l.Losses {
		x := &l.Losses[i]
		if x.Routine {
			continue
		}
		if list = append(list, x); len(list) > maxLosses {
			return nil
		}
		told = told && l.isTarget(x)
	}
	if told {
		return &table{}
	}
	t := lossTable(s, l, list)
	if t.height(s) > maxListLines {
		return nil
	}
	return t
}

// isTarget reports whether a loss is a target of its request.
func (l *lossIndex) isTarget(x *report.Loss) bool {
	return x.Request > 0 && l.targets[x.Object] == x.Request
}

// allLosses lists all losses by request.
func (w *writer) allLosses(l *lossIndex) {
	first := true
	for i := range l.Requests {
		r := &l.Requests[i]
		if len(r.ByKind) == 0 {
			continue
		}
		if !first {
			w.line()
		}
		first = false
		w.request(l, r, false)
		w.titled("", lossTable(w.style, l, l.byRequest[r.N]))
	}
	usual, others := l.withoutRequest()
	w.titled("Not explained by a request:", lossTable(w.style, l, others))
	w.titled("Routine:", lossTable(w.style, l, usual))
}

// withoutRequest returns the losses without a request: routine ones and others.
func (l *lossIndex) withoutRequest() (usual, others []*report.Loss) {
	for _, x := range l.byRequest[0] {
		if x.Routine {
			usual = append(usual, x)
		} else {
			others = append(others, x)
		}
	}
	return usual, others
}

// lossTable returns a table with a row for each loss.
func lossTable(s Style, l *lossIndex, list []*report.Loss) *table {
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "DELETED", "GONE", "WHY"}}
	for _, x := range list {
		gone, colour := "", red
		switch {
		case x.Gone != nil:
			gone = clockText(s, l, *x.Gone)
		case x.State == report.LossBeingDeleted:
			gone, colour = "Terminating", yellow
		default:
			gone, colour = "stays", blue
		}
		t.add(colour, s.text(x.Object.Namespace), s.name(x.Object), clockText(s, l, x.Began), gone, lossWhy(s, x))
	}
	dropCommonNamespace(t, list, func(x **report.Loss) object.Ref { return (*x).Object })
	t.dropUnless(s.Wide, "DELETED")
	return t
}

// lossWhy returns the cause of a loss, with alternatives.
func lossWhy(s Style, x *report.Loss) string {
	causes := []string{causeText(s, x.LossCause)}
	causes = append(causes, object.Mapped(x.Or, func(c report.LossCause) string { return causeText(s, c) })...)
	return withSender(s, x, strings.Join(causes, ", or "))
}

// causeText returns a cause briefly, with the other object.
func causeText(s Style, c report.LossCause) string {
	text := s.text(c.Code)
	if m := reason.Lost.Of(reason.Code(c.Code)); m != nil {
		text = m.Short
	}
	switch {
	case c.By == nil || c.By.Name == "":
		return strings.TrimSuffix(text, ":")
	case reason.Code(c.Code) == reason.OwnerNamespaceMismatch:
		return text + " " + s.nameInNamespace(*c.By)
	default:
		return text + " " + s.name(*c.By)
	}
}

// momentText returns a moment, and how long that is before the end of the history.
func momentText(s Style, l *lossIndex, m report.Moment) string {
	at, ok := timeOf(m)
	if !ok {
		return clockText(s, l, m)
	}
	text := clockText(s, l, m) + " UTC"
	if now, ok := timeOf(l.To); ok && s.format != htmlText && now.Unix() >= at.Unix() {
		ago, than := int(now.Unix()-at.Unix()), " ago)"
		if l.isFromFile() {
			than = " before the file ends)"
		}
		text += " (" + ageText(&ago) + than
	}
	return text
}

// isFromFile reports whether the history is from a file, so its end is not now.
func (l *lossIndex) isFromFile() bool { return l.Source.Type != "cluster" }

// clockText returns a moment for a column: the time of day, with the date if it is not the date of
// the end of the history.
func clockText(s Style, l *lossIndex, m report.Moment) string {
	const day, clock = "2006-01-02", "15:04:05"
	at, ok := timeOf(m)
	switch {
	case !ok && m.Time != "":
		return s.text(m.Time)
	case !ok:
		return "revision " + strconv.FormatInt(m.Revision, 10)
	}
	if end, ok := timeOf(l.To); ok && end.UTC().Format(day) == at.UTC().Format(day) {
		return at.UTC().Format(clock)
	}
	return at.UTC().Format(day + " " + clock)
}

func timeOf(m report.Moment) (at metav1.Time, known bool) {
	seconds := secondsOf(m.Time)
	return metav1.Unix(seconds, 0), seconds != 0
}

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

// fewLosses is the number of losses that a first screen lists.
const fewLosses = 10

// LostText prints the deletes with their losses and the data among them, then losses without a
// delete, how to restore them, and how far back that goes. Wide output lists every object.
func LostText(out io.Writer, s Style, document *report.Lost) error {
	s = s.screen()
	l := lookAt(document)
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	below := linesOf(s, func(x *writer) { x.lostBelow(l) })
	x, crd := l.named(), l.definition()
	switch found := l.Summary; {
	case crd != nil:
		w.unseenInstance(l, crd)
	case x != nil && x.State == report.LossDeleted && !l.isTarget(x):
		w.fate(l, x)
	case found.Deleted+found.BeingDeleted+found.Orphaned > 0 && !s.Wide:
		w.lostScreen(l, screenLines-len(below))
	case found.Deleted+found.BeingDeleted+found.Orphaned > 0:
		w.everyLoss(l)
	default:
		w.prose(nothingLost(s, l), 2)
		if s.Wide {
			w.everyLoss(l)
		}
	}
	w.lines(below)
	return w.done()
}

// lostLook is a document with its losses indexed by request.
type lostLook struct {
	*report.Lost
	// took are the losses by the number of their request; 0 for those without one.
	took map[int][]*report.Loss
	// targets are the targets of requests, with the numbers of these.
	targets map[object.Ref]int
}

func lookAt(document *report.Lost) *lostLook {
	l := &lostLook{document, map[int][]*report.Loss{}, map[object.Ref]int{}}
	for i := range l.Requests {
		for _, o := range l.Requests[i].Objects {
			l.targets[o] = l.Requests[i].N
		}
	}
	for i := range l.Losses {
		x := &l.Losses[i]
		l.took[x.Request] = append(l.took[x.Request], x)
	}
	return l
}

// NeverSeen returns the answer for named objects without any loss.
func NeverSeen(document *report.Lost) string {
	l := lookAt(document)
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
	return text + ": it was gone before, or never was"
}

// notDeleted returns that the named objects were not deleted, as far as that was seen.
func notDeleted(s Style, l *lostLook) string {
	were := agree(len(l.Targets), " was", " were")
	if len(l.Gaps)+len(l.Limits) > 0 {
		return s.crowd(l.Targets, s.limit()) + were + " not seen to be deleted"
	}
	return s.crowd(l.Targets, s.limit()) + were + " not deleted"
}

// nothingLost returns the answer without losses.
func nothingLost(s Style, l *lostLook) string {
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
		if l.ofFile() {
			far = "the file goes"
		}
		return text + where + ", as far back as " + far + " (" + momentText(s, l, l.From) + ")."
	}
	text += where + " since " + momentText(s, l, l.From) + "."
	switch {
	case l.Asked != nil:
	case l.ofFile():
		text += " That is as far back as the file goes."
	default:
		text += " That is as far back as the API server remembers."
	}
	return text
}

// lostScreen writes the answer within room lines: the requests with their losses, the largest
// first.
func (w *writer) lostScreen(l *lostLook, room int) {
	s := w.style
	list := fewTable(s, l)
	var others []string
	if list == nil {
		others = linesOf(s, func(x *writer) { x.unasked(l) })
		room -= len(others)
	} else {
		room -= list.height(s) + 1
	}
	requests := requestsByToll(l)
	if len(requests) == 0 {
		w.prose(unaskedHeadline(s, l)+", and no request explains it.", 2)
	}
	w.requests(l, requests, list == nil, room)
	w.lines(others)
	if list != nil && len(list.rows) > 0 {
		w.line()
		w.table(list)
	}
}

// unaskedHeadline counts the losses without a request.
func unaskedHeadline(s Style, l *lostLook) string {
	_, others := l.unasked()
	if len(others) == 1 {
		return s.where(others[0].Object) + " went at " + momentText(s, l, others[0].Began)
	}
	return plural(len(others), "object") + " went since " + momentText(s, l, l.From)
}

// requests writes the requests within room lines: with counts by kind, without them, or only the
// first ones.
func (w *writer) requests(l *lostLook, list []*report.LostRequest, counted bool, room int) {
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
	return plural(len(list), "more delete") + ", of " + plural(took, "object")
}

// requestsByToll returns the relevant requests, those with the most data and losses first.
func requestsByToll(l *lostLook) []*report.LostRequest {
	var list []*report.LostRequest
	for i := range l.Requests {
		if r := &l.Requests[i]; !r.Routine && len(r.ByKind) > 0 {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *report.LostRequest) int {
		return cmp.Or(cmp.Compare(heldData(b), heldData(a)), cmp.Compare(b.Took, a.Took), certainFirst(a, b))
	})
	return list
}

func certainFirst(a, b *report.LostRequest) int {
	switch {
	case a.Certain == b.Certain:
		return 0
	case a.Certain:
		return -1
	}
	return 1
}

// heldData counts the losses of a request that hold data.
func heldData(r *report.LostRequest) int {
	n := 0
	for _, k := range r.ByKind {
		if k.Data != "" && k.State != report.LossOrphaned {
			n += k.Count
		}
	}
	return n
}

// fewTable returns a table of the losses if they are few, else nil. It has no rows if all losses
// are targets of requests.
func fewTable(s Style, l *lostLook) *table {
	var list []*report.Loss
	told := true
	for i := range l.Losses {
		x := &l.Losses[i]
		if x.Routine {
			continue
		}
		if list = append(list, x); len(list) > fewLosses {
			return nil
		}
		told = told && l.isTarget(x)
	}
	if told {
		return &table{}
	}
	t := lossTable(s, l, list)
	if t.height(s) > listLines {
		return nil
	}
	return t
}

// isTarget reports whether a loss is a target of its request.
func (l *lostLook) isTarget(x *report.Loss) bool {
	return x.Request > 0 && l.targets[x.Object] == x.Request
}

// everyLoss lists all losses by request.
func (w *writer) everyLoss(l *lostLook) {
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
		w.losses(l, "", l.took[r.N])
	}
	usual, others := l.unasked()
	w.losses(l, "Not explained by a request:", others)
	w.losses(l, "Routine:", usual)
}

// unasked returns the losses without a request: routine ones and others.
func (l *lostLook) unasked() (usual, others []*report.Loss) {
	for _, x := range l.took[0] {
		if x.Routine {
			usual = append(usual, x)
		} else {
			others = append(others, x)
		}
	}
	return usual, others
}

// losses writes a table of losses below a title.
func (w *writer) losses(l *lostLook, title string, list []*report.Loss) {
	if len(list) == 0 {
		return
	}
	if w.line(); title != "" {
		w.prose(title, 2)
		w.line()
	}
	w.table(lossTable(w.style, l, list))
}

// lossTable returns a table with a row for each loss.
func lossTable(s Style, l *lostLook, list []*report.Loss) *table {
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
	_, several := namespaces(list, func(x **report.Loss) object.Ref { return (*x).Object })
	t.dropUnless(several, "NAMESPACE")
	t.dropUnless(s.Wide, "DELETED")
	return t
}

// lossWhy returns the cause of a loss, with alternatives.
func lossWhy(s Style, x *report.Loss) string {
	causes := []string{causeText(s, x.LossCause)}
	for _, c := range x.Or {
		causes = append(causes, causeText(s, c))
	}
	return senderWhy(s, x, strings.Join(causes, ", or "))
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
		return text + " " + s.where(*c.By)
	default:
		return text + " " + s.name(*c.By)
	}
}

// momentText returns a moment, and how long that is before the end of the history.
func momentText(s Style, l *lostLook, m report.Moment) string {
	at, ok := timeOf(m)
	if !ok {
		return clockText(s, l, m)
	}
	text := clockText(s, l, m) + " UTC"
	if now, ok := timeOf(l.To); ok && s.manner != paged && now.Unix() >= at.Unix() {
		ago, than := int(now.Unix()-at.Unix()), " ago)"
		if l.ofFile() {
			than = " before the file ends)"
		}
		text += " (" + span(&ago) + than
	}
	return text
}

// ofFile reports whether the history is from a file, so its end is not now.
func (l *lostLook) ofFile() bool { return l.Source.Type != "cluster" }

// clockText returns a moment for a column: the time of day, with the date if it is not the date of
// the end of the history.
func clockText(s Style, l *lostLook, m report.Moment) string {
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

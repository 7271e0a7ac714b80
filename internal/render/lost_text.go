package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"

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
	targets map[report.Ref]int
}

func lookAt(document *report.Lost) *lostLook {
	l := &lostLook{document, map[int][]*report.Loss{}, map[report.Ref]int{}}
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

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

// LostText says first which delete took how much, and what of it is data; then what went
// without one, how to bring it back, and how far back that goes. Wide, it lists every object.
func LostText(out io.Writer, s Style, document *report.Lost) error {
	s = s.screen()
	l := lookAt(document)
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	below := linesOf(s, func(x *writer) { x.lostBelow(l) })
	switch found := l.Summary; {
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

// lostLook is a document with the losses of each request at hand.
type lostLook struct {
	*report.Lost
	// took are the losses by the numbers of the requests that took them; of 0 those that none
	// did.
	took map[int][]*report.Loss
}

func lookAt(document *report.Lost) *lostLook {
	l := &lostLook{document, map[int][]*report.Loss{}}
	for i := range l.Losses {
		x := &l.Losses[i]
		l.took[x.Request] = append(l.took[x.Request], x)
	}
	return l
}

// nothingLost is the answer where nothing was.
func nothingLost(s Style, l *lostLook) string {
	what, seen := "Nothing", "was deleted"
	switch {
	case len(l.Targets) > 0:
		what, seen = s.crowd(l.Targets, s.limit()), agree(len(l.Targets), "was", "were")+" not deleted"
		if len(l.Gaps)+len(l.Limits) > 0 {
			seen = agree(len(l.Targets), "was", "were") + " not seen to be deleted"
		}
	case len(l.Gaps)+len(l.Limits) > 0:
		seen = "that could be read was deleted"
	}
	where := ""
	if l.Namespace != "" {
		where = " in namespace " + s.text(l.Namespace)
	}
	text := what + " " + seen + where + " since " + momentText(s, l, l.From) + "."
	if l.Asked == nil {
		text += " That is as far back as the API server remembers."
	}
	return text
}

// lostScreen is the answer within so many lines: each request with what it took, the one that
// took most first.
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
		n := l.Summary.Deleted + l.Summary.BeingDeleted + l.Summary.Orphaned
		w.prose(plural(n, "object")+" went since "+momentText(s, l, l.From)+agree(n, ", and no request explains it.", ", and no request explains that."), 2)
	}
	w.requests(l, requests, list == nil, room)
	w.lines(others)
	if list != nil && len(list.rows) > 0 {
		w.line()
		w.table(list)
	}
}

// requests writes the requests, as short as so many lines ask for: with what each took by
// kind, or without that, or not all of them.
func (w *writer) requests(l *lostLook, list []*report.LostRequest, counted bool, room int) {
	write := func(x *writer, counted bool) {
		for i, r := range list {
			if i > 0 && counted {
				x.line()
			}
			x.request(l, r, counted)
		}
	}
	if whole := linesOf(w.style, func(x *writer) { write(x, counted) }); len(whole) <= room {
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

// requestsByToll are the requests that matter, the one first that took most.
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

// heldData counts what a request took that holds data.
func heldData(r *report.LostRequest) int {
	n := 0
	for _, k := range r.ByKind {
		if k.Data != "" && k.State != report.LossOrphaned {
			n += k.Count
		}
	}
	return n
}

// fewTable is a table of the losses, where they are few; nil where they are counted. It has no
// rows where the requests say it all.
func fewTable(s Style, l *lostLook) *table {
	var list []*report.Loss
	told := true
	for i := range l.Losses {
		if x := &l.Losses[i]; !x.Routine {
			list = append(list, x)
			told = told && isTarget(l, x)
		}
	}
	if len(list) > fewLosses {
		return nil
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

// isTarget reports whether a loss is what a request was for, and nothing more is to say.
func isTarget(l *lostLook, x *report.Loss) bool {
	r := requestOf(l, x.Request)
	return r != nil && slices.Contains(r.Objects, x.Object)
}

func requestOf(l *lostLook, n int) *report.LostRequest {
	if i := slices.IndexFunc(l.Requests, func(r report.LostRequest) bool { return r.N == n }); i >= 0 && n > 0 {
		return &l.Requests[i]
	}
	return nil
}

// everyLoss lists all that was asked about, below the request that took it.
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
	w.losses(l, "In the ordinary course:", usual)
}

// unasked are the losses that no request took: those in the ordinary course of things, and
// others.
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

// losses writes a table of losses, below a title.
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

// lossTable has a row for each loss.
func lossTable(s Style, l *lostLook, list []*report.Loss) *table {
	_, several := namespaces(list, func(x **report.Loss) report.Ref { return (*x).Object })
	t := &table{headers: lossRow(s, several, "NAMESPACE", "OBJECT", "DELETED", "GONE", "WHY")}
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
		row := lossRow(s, several, s.text(x.Object.Namespace), s.name(x.Object), clockText(s, l, x.Began), gone, lossWhy(s, x))
		t.add(colour, row...)
	}
	return t
}

// lossRow leaves the columns out that are not needed.
func lossRow(s Style, several bool, namespace, name, began, gone, why string) []string {
	var row []string
	if several {
		row = append(row, namespace)
	}
	row = append(row, name)
	if s.Wide {
		row = append(row, began)
	}
	return append(row, gone, why)
}

// lostBelow is what stands below the answer: what is not listed, the command that brings back
// what went, and what is known of the past.
func (w *writer) lostBelow(l *lostLook) {
	s := w.style
	if n := len(l.Elsewhere); n > 0 {
		most := min(n, fewNames)
		names := make([]string, most)
		for i := range names {
			names[i] = s.place(l.Elsewhere[i])
		}
		w.prose("Deleted elsewhere: "+enumerate(names, n)+". To see all of it: -A", 2)
	}
	if text := hiddenLosses(s, l); text != "" {
		w.prose(text, 2)
	}
	for _, r := range l.Remedies {
		w.line()
		w.prose("To bring it back:", 2)
		w.command("  ", r)
	}
	writeNotes(w, lostNotes(s, l))
}

// hiddenLosses counts what a first screen leaves out.
func hiddenLosses(s Style, l *lostLook) string {
	if s.Wide {
		return ""
	}
	var noise hiddenCounts
	usual, n := kindCounts{}, 0
	for i := range l.Losses {
		switch x := &l.Losses[i]; {
		case !x.Routine:
		case isNoise(report.KindCount{APIVersion: x.Object.APIVersion, Kind: x.Object.Kind}) || x.Request > 0:
			noise.generated++
		default:
			usual.add(x.Object)
			n++
		}
	}
	text := hiddenText(noise)
	if n > 0 {
		text += "In the ordinary course: " + enumerate(usual.words(s)[:min(len(usual), fewKinds)], len(usual)) + ". "
	}
	if text == "" && len(l.Losses) <= fewLosses {
		return ""
	}
	return text + "Every object and why: -o wide."
}

// lostNotes say how far back the answer goes, and of what less is known.
func lostNotes(s Style, l *lostLook) []string {
	const before = ": nothing is known of what was before."
	var notes []string
	switch {
	case l.Summary.Deleted+l.Summary.BeingDeleted+l.Summary.Orphaned == 0 && !l.Short:
	case l.Short:
		notes = append(notes, s.paint(bold, "History begins at "+momentText(s, l, l.From)+", later than asked for")+before)
	case l.Asked != nil:
		notes = append(notes, "Looked back to "+momentText(s, l, l.From)+", as asked.")
	default:
		notes = append(notes, "History begins at "+momentText(s, l, l.From)+before)
	}
	if len(l.Limits) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" "+limitText(s, l))
	}
	var gone []string
	unread := slices.DeleteFunc(slices.Clone(l.Gaps), func(g report.Gap) bool {
		if name := crdOf(g); name != "" {
			gone = append(gone, s.text(name))
			return true
		}
		return false
	})
	if len(gone) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" nothing is shown of "+enumerate(gone[:min(fewNames, len(gone))], len(gone))+" while "+agree(len(gone), "its CRD is", "their CRDs are")+" gone.")
	}
	return append(notes, completeness(s, l.Source, len(unread) == 0, unread)...)
}

// limitText names the kinds of which less is known, and since when.
func limitText(s Style, l *lostLook) string {
	most := fewNames
	if s.all() {
		most = len(l.Limits)
	}
	var names []string
	for _, x := range l.Limits[:min(most, len(l.Limits))] {
		names = append(names, s.text(x.Resource)+" at "+clockText(s, l, x.From))
	}
	return "the history of " + plural(len(l.Limits), "kind") + " begins later: " + enumerate(names, len(l.Limits)) + "."
}

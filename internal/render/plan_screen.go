package render

import (
	"bufio"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// screenWidth is the maximum width of the first screen, whatever the output is.
	screenWidth = 100
	// screenLines is its maximum number of lines, headLines that of the answer, and listLines that
	// of a list of objects.
	screenLines, headLines, listLines = 25, 3, 16
	// labelWidth is the width of the label before each part.
	labelWidth = 8
)

// screen writes a plan in at most 25 lines, whatever its size: blocked objects, data, recreated and
// remaining objects, and the rest by kind. -o wide has every object.
func (w *writer) screen(p *report.Plan, caused, before []report.Effect) {
	w.style.Width = narrow(w.style.Width)
	waited, before := waitedFor(caused, before)
	var below strings.Builder // the parts get the remaining room
	rest := &writer{Writer: bufio.NewWriter(&below), style: w.style}
	rest.beside(p, before)
	rest.finalizers(p)
	writeNotes(rest, planNotes(w.style, p))
	w.err = cmp.Or(w.err, rest.done())

	w.prose(planHeadline(w.style, p, caused), 2)
	if list, ok := w.listing(p, caused, waited); ok {
		w.WriteString(list)
		if list != "" && len(before)+len(p.Stuck) > 0 {
			w.line()
		}
	} else {
		w.parts(p, caused, waited, screenLines-strings.Count(below.String(), "\n")-headLines)
	}
	w.WriteString(below.String())
}

// narrow limits a width to that of the first screen.
func narrow(width int) int {
	if width <= 0 {
		return screenWidth
	}
	return min(width, screenWidth)
}

// waitedFor splits objects of earlier deletions: those that objects of this request wait for, and
// the rest.
func waitedFor(caused, before []report.Effect) (waited, rest []report.Effect) {
	held := map[object.Ref]*report.Effect{}
	for i := range before {
		if before[i].Outcome == report.Blocked {
			held[before[i].Object] = &before[i]
		}
	}
	met := map[object.Ref]bool{}
	var follow func(*report.Effect)
	follow = func(e *report.Effect) {
		if e.BlockedBy == nil {
			return
		}
		for _, r := range e.BlockedBy.Dependents {
			if held[r] != nil && !met[r] {
				met[r] = true
				follow(held[r])
			}
		}
	}
	for i := range caused {
		follow(&caused[i])
	}
	for i := range before {
		if met[before[i].Object] {
			waited = append(waited, before[i])
		} else {
			rest = append(rest, before[i])
		}
	}
	return waited, rest
}

// listing returns a table of the effects, and whether they are few enough for it.
func (w *writer) listing(p *report.Plan, caused, waited []report.Effect) (string, bool) {
	if len(caused) == 0 {
		return "", true
	}
	if counted(p, caused) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("\n")
	if err := effectTable(w.style, p, slices.Concat(waited, caused)).write(&b, w.style); err != nil {
		w.err = cmp.Or(w.err, err)
		return "", true
	}
	return b.String(), strings.Count(b.String(), "\n") <= listLines
}

// parts summarizes the effects in at most room lines.
func (w *writer) parts(p *report.Plan, caused, waited []report.Effect, room int) {
	s, at := w.style, namespaceOf(p)
	var held, unknown, stays, back groups
	hung := map[object.Ref]bool{} // objects with a line of their own
	for _, list := range [][]report.Effect{waited, caused} {
		for i := range list {
			if list[i].Outcome == report.Blocked {
				hung[list[i].Object] = true
			}
		}
	}
	for i := range waited {
		held.add(&waited[i], hanging(s, &waited[i], hung))
	}
	for i := range caused {
		e := &caused[i]
		switch e.Outcome {
		case report.Blocked:
			held.add(e, hanging(s, e, hung))
		case report.Unknown:
			unknown.add(e, why(s, *e))
		case report.Kept, report.Orphaned, report.Pruned:
			stays.add(e, why(s, *e))
		case report.Deleted:
			if again := recreated(s, *e); again != "" {
				back.add(e, strings.TrimPrefix(again, "; comes back: "))
			}
		}
	}
	held.rootsFirst()
	rest, hidden := restOf(p, caused)
	list := []*part{
		{label: hangLabel(caused), items: held.items(s, at), most: 6},
		{label: "UNKNOWN", items: unknown.items(s, at), most: 3},
		{label: "DATA", items: dataCounts(s, p, caused), most: 3, noun: "kind"},
		{label: "LATER", items: awaited(s, caused), most: 2},
		{label: "BACK", items: back.items(s, at), most: 2},
		{label: "STAYS", items: stays.items(s, at), most: 3},
		{label: "GOES", items: rest.words(s), most: 3, noun: "kind"},
	}
	shrink(list, s, room)
	for _, x := range list {
		w.part(x)
	}
	w.prose(hiddenText(hidden)+"Every object and why: -o wide.", 2)
}

// hangLabel returns the label of blocked objects, with a question mark if none is certain to hang.
func hangLabel(caused []report.Effect) string {
	for i := range caused {
		if caused[i].Outcome == report.Blocked && len(caused[i].MayHang()) == 0 {
			return "HANGS"
		}
	}
	return "HANGS?"
}

// part is one part of the first screen: a label and its items.
type part struct {
	label string
	items []string
	// most is the maximum number of lines; 0 shows no sentences.
	most int
	// noun is the noun of items that are counts. Other items are sentences.
	noun string
}

// shrink reduces the lines of the longest parts, later ones first, until all fit. If that is not
// enough, the last parts with sentences only refer to -o wide.
func shrink(list []*part, s Style, room int) {
	for {
		total, longest, lines := 0, list[0], 0
		for _, x := range list {
			n := len(x.lay(s))
			if total += n; n >= lines && x.most > min(len(x.items), 2) {
				longest, lines = x, n
			}
		}
		switch {
		case total < room:
			return
		case lines > 1:
			longest.most = min(longest.most, lines) - 1
		default:
			last := len(list) - 1
			for last >= 0 && (list[last].noun != "" || len(list[last].lay(s)) < 2) {
				last--
			}
			if last < 0 {
				return
			}
			list[last].most = 0
		}
	}
}

// namespaceOf returns the namespace that is omitted in the output: that of the first target, or the
// target itself if it is a namespace.
func namespaceOf(p *report.Plan) string {
	if len(p.Seed.Targets) == 0 {
		return ""
	}
	if t := p.Seed.Targets[0]; t.Namespace == "" && isContainer(t) {
		return t.Name
	}
	return p.Seed.Targets[0].Namespace
}

// part writes a part with its label.
func (w *writer) part(x *part) {
	label := x.label
	for i, line := range x.lay(w.style) {
		if i > 0 {
			label = ""
		}
		w.line(w.style.paint(bold, label), strings.Repeat(" ", labelWidth-len(label)), line)
	}
}

// lay lays out the items. Items without room are counted, and the last one with room is shortened.
func (x *part) lay(s Style) []string {
	if x.noun != "" && len(x.items) > 0 {
		return shortenList(x.items, x.noun, x.most, s.layItem)
	}
	if x.most == 0 && len(x.items) > 0 {
		return []string{"see -o wide"}
	}
	var lines []string
	for i, item := range x.items {
		left := len(x.items) - i - 1 // below this one
		room := x.most - len(lines)
		if left > 0 {
			room-- // for the line that counts them
		}
		laid := s.layItem(item)
		switch {
		case len(laid) <= room:
			lines = append(lines, laid...)
		case i > 0:
			return append(lines, strconv.Itoa(left+1)+" more: -o wide")
		case left > 0:
			return append(s.shorten(item, room, s.layItem), strconv.Itoa(left)+" more: -o wide")
		default:
			return s.shorten(item, room, s.layItem)
		}
	}
	return lines
}

// layItem wraps an item of a part.
func (s Style) layItem(text string) []string {
	laid := wrapText(text, s.Width-labelWidth, 2)
	for i := range laid[1:] {
		laid[i+1] = "  " + laid[i+1]
	}
	return laid
}

// beside writes what happens without the request, and which attempts of the collector never succeed.
func (w *writer) beside(p *report.Plan, before []report.Effect) {
	if len(before) > 0 {
		verb := " are"
		if len(before) == 1 {
			verb = " is"
		}
		w.prose(plural(len(before), "other object")+verb+" garbage or being deleted already, without this request: -o wide.", 2)
	}
	if n := len(p.Stuck); n > 0 {
		w.prose("The garbage collector tries "+plural(n, "request")+" again and again, without effect; the first: "+stuckText(w.style, &p.Stuck[0])+".", 2)
	}
}

// hanging returns what blocks an object, and the state of the controller behind it.
func hanging(s Style, e *report.Effect, hung map[object.Ref]bool) string {
	if reason.Code(e.Reason) == reason.ContentRemains {
		return waitsForContent(s, e, hung)
	}
	return why(s, *e)
}

// waitsForContent names the content that blocks a namespace or CRD, as far as it has no line of its
// own.
func waitsForContent(s Style, e *report.Effect, hung map[object.Ref]bool) string {
	const text = "waits for its content"
	if e.BlockedBy == nil {
		return text
	}
	var left []object.Ref
	unnamed := map[object.Ref]bool{}
	for _, r := range e.BlockedBy.Dependents {
		if !hung[r] {
			left, unnamed[r] = append(left, r), true
		}
	}
	var held []report.Release
	for _, r := range e.Once {
		if unnamed[r.Object] {
			held = addFinalizer(held, r)
		}
	}
	switch {
	case len(left) == 0:
		return text
	case len(held) == 0:
		return text + ": " + s.some(left, 2)
	default:
		return text + ": " + s.some(left, 2) + " (finalizer " + finalizerNames(s, held) + "; " + stateText(held) + ")"
	}
}

// awaited returns the effects that wait for finalizers, with running and with other controllers.
func awaited(s Style, caused []report.Effect) []string {
	f := futureOf(caused)
	var items []string
	if len(f.soon) > 0 {
		items = append(items, strconv.Itoa(f.goSoon)+" of these only once "+controllers(s, f.soon))
	}
	if len(f.held) > 0 && f.goLater > 0 {
		items = append(items, plural(f.goLater, "more object")+" if finalizer "+finalizerNames(s, f.held)+" is removed ("+stateText(f.held)+")")
	}
	return items
}

// groups are objects of one kind and namespace with the same text, in the order of their first
// object.
type groups struct {
	order []groupKey
	refs  map[groupKey][]object.Ref
	// waits marks groups of objects that wait for others.
	waits map[groupKey]bool
}

type groupKey struct{ kind, namespace, text string }

func (g *groups) add(e *report.Effect, text string) {
	if g.refs == nil {
		g.refs, g.waits = map[groupKey][]object.Ref{}, map[groupKey]bool{}
	}
	key := groupKey{e.Object.APIVersion + "/" + e.Object.Kind, e.Object.Namespace, text}
	if g.refs[key] == nil {
		g.order = append(g.order, key)
	}
	g.refs[key] = append(g.refs[key], e.Object)
	if reason.Code(e.Reason) == reason.ContentRemains ||
		e.BlockedBy != nil && len(e.BlockedBy.Finalizers) == 0 && len(e.BlockedBy.Dependents)+len(e.BlockedBy.Conditions) > 0 {
		g.waits[key] = true
	}
}

// rootsFirst moves groups that wait for others to the end.
func (g *groups) rootsFirst() {
	slices.SortStableFunc(g.order, func(a, b groupKey) int {
		switch {
		case g.waits[a] == g.waits[b]:
			return len(g.refs[b]) - len(g.refs[a])
		case g.waits[a]:
			return 1
		default:
			return -1
		}
	})
}

// items returns a text for each group: one object by name, several by kind. The namespace home is
// omitted.
func (g *groups) items(s Style, home string) []string {
	items := make([]string, len(g.order))
	for i, key := range g.order {
		refs := g.refs[key]
		who := s.name(refs[0])
		if len(refs) > 1 {
			who = countOf(s, len(refs), refs[0].APIVersion, refs[0].Kind) + " (" + someNames(s, refs) + ")"
		}
		if key.namespace != "" && key.namespace != home {
			who += " -n " + s.text(key.namespace)
		}
		items[i] = who + ": " + key.text
	}
	return items
}

func someNames(s Style, refs []object.Ref) string {
	var names []string
	for _, r := range refs[:min(len(refs), manyNames)] {
		names = append(names, s.text(r.Name))
	}
	return enumerate(names, len(refs))
}

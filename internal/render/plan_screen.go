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
	// maxScreenWidth is the maximum width of the first screen, whatever the output is.
	maxScreenWidth = 100
	// maxScreenLines is its maximum number of lines, maxHeadLines that of the answer, and
	// maxListLines that of a list of objects.
	maxScreenLines, maxHeadLines, maxListLines = 25, 3, 16
	// labelWidth is the width of the label before each part.
	labelWidth = 8
)

// screen writes a plan in at most 25 lines, whatever its size: blocked objects, data, recreated and
// remaining objects, and the rest by kind. -o wide has every object.
func (w *writer) screen(p *report.Plan, caused, before []report.Effect) {
	w.style = w.style.forScreen()
	waited, before := splitWaitedFor(caused, before)
	var below strings.Builder // the parts get the remaining room
	rest := &writer{Writer: bufio.NewWriter(&below), style: w.style}
	rest.unrelated(p, before)
	rest.finalizers(p)
	rest.planNotes(p)
	w.err = cmp.Or(w.err, rest.done())

	w.prose(planHeadline(w.style, p, caused), 2)
	if list, ok := w.effectList(p, caused, waited); ok {
		w.WriteString(list)
		if len(p.Broken) > 0 {
			w.line()
			w.breakages(p)
		}
		if list != "" && len(before)+len(relatedStuck(p))+len(p.Outside) > 0 {
			w.line()
		}
		w.part(outsidePart(w.style, p))
	} else {
		w.parts(p, caused, waited, maxScreenLines-strings.Count(below.String(), "\n")-maxHeadLines)
	}
	w.WriteString(below.String())
}

// splitWaitedFor splits objects of earlier deletions: those that objects of this request wait for,
// and the rest.
func splitWaitedFor(caused, before []report.Effect) (waited, rest []report.Effect) {
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

// effectList returns a table of the effects, and whether they are few enough for it.
func (w *writer) effectList(p *report.Plan, caused, waited []report.Effect) (string, bool) {
	if len(caused) == 0 {
		return "", true
	}
	if needsCounts(p, caused) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("\n")
	if err := effectTable(w.style, p, slices.Concat(waited, caused)).write(&b, w.style); err != nil {
		w.err = cmp.Or(w.err, err)
		return "", true
	}
	return b.String(), strings.Count(b.String(), "\n") <= maxListLines
}

// parts summarizes the effects in at most room lines.
func (w *writer) parts(p *report.Plan, caused, waited []report.Effect, room int) {
	s, at := w.style, namespaceOf(p)
	var held, mayHang, unknown, stays, back effectGroups
	open := p.MayHang()
	hangs := func(e *report.Effect) *effectGroups { // the group of a blocked object
		if open[e.Object] != nil {
			return &mayHang
		}
		return &held
	}
	hung := map[object.Ref]bool{} // objects with a line of their own
	for _, list := range [][]report.Effect{waited, caused} {
		for i := range list {
			if list[i].Outcome == report.Blocked {
				hung[list[i].Object] = true
			}
		}
	}
	for i := range waited {
		hangs(&waited[i]).add(&waited[i], blockedReason(s, &waited[i], hung))
	}
	for i := range caused {
		e := &caused[i]
		switch e.Outcome {
		case report.Blocked:
			hangs(e).add(e, blockedReason(s, e, hung))
		case report.Unknown:
			unknown.add(e, effectReason(s, *e))
		case report.Kept, report.Orphaned, report.Pruned:
			stays.add(e, effectReason(s, *e))
		case report.Deleted:
			if again := recreatedText(s, *e); again != "" {
				back.add(e, strings.TrimPrefix(strings.TrimPrefix(again, "; "), "comes back: "))
			}
		}
	}
	for _, g := range []*effectGroups{&held, &mayHang} {
		slices.SortStableFunc(g.keys, func(a, b groupKey) int { // those that wait for others come last
			return cmp.Or(object.TrueFirst(!g.waits[a], !g.waits[b]), len(g.of[b])-len(g.of[a]))
		})
	}
	rest, hidden := otherCounts(p, caused)
	list := []*part{
		{label: "HANGS", items: held.items(s, at), maxLines: 6},
		{label: "HANGS?", items: mayHang.items(s, at), maxLines: 6},
		{label: "UNKNOWN", items: unknown.items(s, at), maxLines: 3},
		{label: "DATA", items: dataCounts(s, p, caused), maxLines: 3, noun: "kind"},
		{label: "BREAKS", items: breakageTexts(s, p), maxLines: maxBreakageLines},
		outsidePart(s, p),
		{label: "LATER", items: laterTexts(s, caused), maxLines: 2},
		{label: "BACK", items: back.items(s, at), maxLines: 2},
		{label: "STAYS", items: stays.items(s, at), maxLines: 3},
		{label: "GOES", items: rest.texts(s), maxLines: 3, noun: "kind"},
	}
	shrink(list, s, room)
	for _, x := range list {
		w.part(x)
	}
	w.prose(hiddenText(hidden)+"Every object and why: -o wide.", 2)
}

// part is one part of the first screen: a label and its items.
type part struct {
	label string
	items []string
	// maxLines is the maximum number of lines; 0 shows no sentences.
	maxLines int
	// noun is the noun of items that are counts. Other items are sentences.
	noun string
}

// shrink reduces the lines of the longest parts, later ones first, until all fit. If that is not
// enough, the last parts with sentences only refer to -o wide.
func shrink(list []*part, s Style, room int) {
	for {
		total, longest, lines := 0, list[0], 0
		for _, x := range list {
			n := len(x.layOut(s))
			if total += n; n >= lines && x.maxLines > min(len(x.items), 2) {
				longest, lines = x, n
			}
		}
		switch {
		case total < room:
			return
		case lines > 1:
			longest.maxLines = min(longest.maxLines, lines) - 1
		default:
			last := len(list) - 1
			for last >= 0 && (list[last].noun != "" || len(list[last].layOut(s)) < 2) {
				last--
			}
			if last < 0 {
				return
			}
			list[last].maxLines = 0
		}
	}
}

// namespaceOf returns the namespace that is omitted in the output: that of the first target, or the
// target itself if it is a namespace.
func namespaceOf(p *report.Plan) string {
	switch {
	case p.Seed.Uninstall != nil:
		return p.Seed.Uninstall.Namespace
	case len(p.Seed.Targets) == 0:
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
	for i, line := range x.layOut(w.style) {
		if i > 0 {
			label = ""
		}
		w.line(w.style.paint(bold, label), strings.Repeat(" ", labelWidth-len(label)), line)
	}
}

// layOut lays out the items. Items without room are counted, and the last one with room is
// shortened.
func (x *part) layOut(s Style) []string {
	if x.noun != "" && len(x.items) > 0 {
		return shortenList(x.items, x.noun, len(x.items), x.maxLines, s.layOutItem)
	}
	if x.maxLines == 0 && len(x.items) > 0 {
		return []string{"see -o wide"}
	}
	var lines []string
	for i, item := range x.items {
		left := len(x.items) - i - 1 // below this one
		room := x.maxLines - len(lines)
		if left > 0 {
			room-- // for the line that counts them
		}
		laid := s.layOutItem(item)
		switch {
		case len(laid) <= room:
			lines = append(lines, laid...)
		case i > 0:
			return append(lines, strconv.Itoa(left+1)+" more: -o wide")
		case left > 0:
			return append(s.shorten(item, room, s.layOutItem), strconv.Itoa(left)+" more: -o wide")
		default:
			return s.shorten(item, room, s.layOutItem)
		}
	}
	return lines
}

// layOutItem wraps an item of a part.
func (s Style) layOutItem(text string) []string {
	laid := wrapText(text, s.Width-labelWidth, 2)
	for i := range laid[1:] {
		laid[i+1] = "  " + laid[i+1]
	}
	return laid
}

// unrelated writes what happens regardless of the request, and which requests about objects of the plan the
// garbage collector repeats without effect.
func (w *writer) unrelated(p *report.Plan, before []report.Effect) {
	if n := len(before); n > 0 {
		w.prose(report.Plural(n, "other object")+pluralForm(n, " is", " are")+" garbage or already being deleted, regardless of this request: -o wide.", 2)
	}
	if stuck := relatedStuck(p); len(stuck) > 0 {
		w.prose("The garbage collector repeats "+report.Plural(len(stuck), "request")+" without effect; the first: "+stuckText(w.style, &stuck[0])+".", 2)
	}
}

// relatedStuck returns the repeated requests that concern an object of the plan. A bad owner reference
// elsewhere decides nothing about it.
func relatedStuck(p *report.Plan) []report.Stuck {
	if p.Seed.Verb == "collect" || len(p.Stuck) == 0 {
		return p.Stuck
	}
	affected := object.SetOf(p.Effects, func(e report.Effect) object.Ref { return e.Object })
	return slices.DeleteFunc(slices.Clone(p.Stuck), func(x report.Stuck) bool {
		return !affected[x.Object] && !slices.ContainsFunc(x.Because, func(ref object.Ref) bool { return affected[ref] })
	})
}

// blockedReason returns what blocks an object, and the state of the controller behind it.
func blockedReason(s Style, e *report.Effect, hung map[object.Ref]bool) string {
	if reason.Code(e.Reason) == reason.ContentRemains {
		return waitsForContent(s, e, hung)
	}
	return effectReason(s, *e)
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
		return text + ": " + s.firstRefs(left, 2)
	default:
		return text + ": " + s.firstRefs(left, 2) + " (finalizer " + finalizerNames(s, held) + "; " + stateText(held) + ")"
	}
}

// laterTexts returns the effects that wait for finalizers, with running and with other controllers.
func laterTexts(s Style, caused []report.Effect) []string {
	f := pendingReleasesOf(caused)
	var items []string
	if len(f.expected) > 0 {
		items = append(items, strconv.Itoa(f.afterExpected)+" of these only once "+controllersText(s, f.expected))
	}
	if len(f.unexpected) > 0 && f.afterUnexpected > 0 {
		items = append(items, report.Plural(f.afterUnexpected, "more object")+" if finalizer "+finalizerNames(s, f.unexpected)+" is removed ("+stateText(f.unexpected)+")")
	}
	return items
}

// effectGroups are objects of one kind and namespace with the same text.
type effectGroups struct {
	groups[groupKey, object.Ref]
	// waits marks groups of objects that wait for others.
	waits map[groupKey]bool
}

type groupKey struct{ kind, namespace, text string }

func (g *effectGroups) add(e *report.Effect, text string) {
	key := groupKey{e.Object.APIVersion + "/" + e.Object.Kind, e.Object.Namespace, text}
	g.groups.add(key, e.Object)
	if reason.Code(e.Reason) == reason.ContentRemains ||
		e.BlockedBy != nil && len(e.BlockedBy.Finalizers) == 0 && len(e.BlockedBy.Dependents)+len(e.BlockedBy.Conditions) > 0 {
		if g.waits == nil {
			g.waits = map[groupKey]bool{}
		}
		g.waits[key] = true
	}
}

// items returns a text for each group: one object by name, several by kind. The namespace home is
// omitted.
func (g *effectGroups) items(s Style, home string) []string {
	items := make([]string, len(g.keys))
	for i, key := range g.keys {
		refs := g.of[key]
		who := s.name(refs[0])
		if len(refs) > 1 {
			who = countOf(s, len(refs), refs[0].APIVersion, refs[0].Kind) + " (" + s.firstNames(refs) + ")"
		}
		if key.namespace != "" && key.namespace != home {
			who += " -n " + s.text(key.namespace)
		}
		items[i] = who + ": " + key.text
	}
	return items
}

// firstNames names the first few of many objects without their kind and namespace.
func (s Style) firstNames(refs []object.Ref) string {
	return firstOf(refs, manyNames, func(r object.Ref) string { return s.text(r.Name) })
}

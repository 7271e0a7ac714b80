package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// request writes the headline of a request: targets, time and number of losses. With counted, it
// adds the counts by kind.
func (w *writer) request(l *lossIndex, r *report.LostRequest, counted bool) {
	s := w.style
	w.shortProse(3, requestHeadline(s, l, r), 2)
	if !r.Certain {
		w.shortProse(2, uncertaintyText(s, l, r), 2)
	}
	if s.Wide {
		w.auditDetails(r)
	}
	if !counted || len(r.ByKind) == 1 && r.ByKind[0].Count == len(r.Objects) {
		return
	}
	for _, x := range lossParts(s, l, r) {
		w.part(x)
	}
}

// briefRequest writes a request in one sentence.
func (w *writer) briefRequest(l *lossIndex, r *report.LostRequest) {
	text := requestHeadline(w.style, l, r)
	if !r.Certain {
		text = strings.TrimSuffix(text, ".") + "; it may have been deleted without a request."
	}
	w.shortProse(2, text, 2)
}

// lossCounts counts the losses of a request, its targets separately.
type lossCounts struct{ targets, deleted, terminating, orphaned int }

func countLosses(l *lossIndex, r *report.LostRequest) lossCounts {
	var t lossCounts
	for _, x := range l.byRequest[r.N] {
		switch {
		case l.isTarget(x):
			t.targets++
		case x.State == report.LossDeleted:
			t.deleted++
		case x.State == report.LossBeingDeleted:
			t.terminating++
		default:
			t.orphaned++
		}
	}
	return t
}

// requestHeadline returns "ns/shop was deleted at 14:02:31 UTC (2m ago), and 59 objects with it",
// with objects that are still being deleted or were orphaned.
func requestHeadline(s Style, l *lossIndex, r *report.LostRequest) string {
	n, t := len(r.Objects), countLosses(l, r)
	subject, them := s.summarizeRefs(r.Objects, s.limit()*2/3), pluralForm(n, " with it", " with them")
	if n == 1 {
		subject = s.nameInNamespace(r.Objects[0])
	}
	text := s.paint(red, subject+pluralForm(n, " was deleted", " were deleted")) + policyText(r.Policy) + " at " + momentText(s, l, r.At) + bySender(s, r)
	went, of := ", and ", ""
	if targetsTerminating(l, r) {
		text = s.paint(yellow, subject+pluralForm(n, " has", " have")+" been Terminating") + policyText(r.Policy) + " since " + momentText(s, l, r.At)
		if r.Sent != nil {
			text += ", deleted" + bySender(s, r)
		}
		went, them = "; ", " went"+them
	}
	more := r.Took - t.targets - t.deleted - t.terminating - t.orphaned
	if len(l.Targets) > 0 { // they are in a table, and the request took others, too
		t.deleted, more = r.Took-n-t.terminating-t.orphaned, 0
	}
	if more > 0 && l.Namespace != "" {
		of = " of namespace " + s.text(l.Namespace)
	}
	least := ""
	if l.historyBeginsAfter(r) {
		least = "at least "
	}
	if t.deleted > 0 {
		text += went + least + report.Plural(t.deleted, "object") + of + them
	}
	if t.terminating > 0 {
		text += "; " + report.Plural(t.terminating, "more object") + pluralForm(t.terminating, " is", " are") + " Terminating"
	}
	if t.orphaned > 0 {
		text += "; " + report.Plural(t.orphaned, "object") + pluralForm(t.orphaned, " stays without its owner", " stay without their owner")
	}
	tookInstances := slices.ContainsFunc(l.byRequest[r.N], func(x *report.Loss) bool { return x.Code == string(reason.DefinitionDeleted) })
	if n == 1 && !tookInstances && l.hidesInstances(r.Objects[0].Name, reason.CRDGone) {
		text += "; its instances were deleted, too, but the API server does not show them while the CRD is gone"
	}
	if more > 0 {
		text += "; it affected " + least + report.Plural(r.Took, "object") + " in all"
	}
	return text + "."
}

// uncountedResources are the resources, with groups, that may be missing from a count of losses.
var uncountedResources = map[string]bool{"leases.coordination.k8s.io": true, "events.": true, "events.events.k8s.io": true}

// historyBeginsAfter reports whether the history of some kind begins after a request, so that the
// request may have caused more losses than known.
func (l *lossIndex) historyBeginsAfter(r *report.LostRequest) bool {
	return slices.ContainsFunc(l.Limits, func(x report.HistoryLimit) bool {
		return !uncountedResources[x.Resource+"."+object.GroupOf(x.APIVersion)] && x.From.Revision > r.At.Revision
	})
}

// crdOf returns the CRD that explains a gap by its deletion or change; empty for any other gap.
func crdOf(g report.Gap) (name string, why reason.Code) {
	first, _, _ := strings.Cut(g.Why, ":")
	switch why = reason.Code(first); why {
	case reason.CRDGone, reason.CRDVersionGone, reason.CRDScopeChanged, reason.CRDKindChanged:
		return g.Resource + "." + object.GroupOf(g.APIVersion), why
	default:
		return "", ""
	}
}

// targetsTerminating reports whether all targets of a request still exist.
func targetsTerminating(l *lossIndex, r *report.LostRequest) bool {
	going := false
	for _, x := range l.byRequest[r.N] {
		if l.isTarget(x) {
			if x.State != report.LossBeingDeleted {
				return false
			}
			going = true
		}
	}
	return going
}

func policyText(policy string) string {
	switch policy {
	case "Foreground":
		return " in the foreground"
	case "Orphan":
		return " with --cascade=orphan"
	}
	return ""
}

// uncertaintyText returns a sentence that the request is uncertain, with the other possible causes
// of the targets' losses, each once. A cause has the name of an object if it is the same for all
// targets.
func uncertaintyText(s Style, l *lossIndex, r *report.LostRequest) string {
	codes := map[string]string{}
	for _, x := range l.byRequest[r.N] {
		if !l.isTarget(x) {
			continue
		}
		for _, c := range append([]report.LossCause{x.LossCause}, x.Or...) {
			text := causeText(s, c)
			if was, ok := codes[c.Code]; ok && was != text {
				text = causeText(s, report.LossCause{Code: c.Code})
			}
			codes[c.Code] = text
		}
	}
	delete(codes, string(reason.Requested))
	text := "  It is uncertain whether a client requested it."
	if others := slices.Sorted(maps.Values(codes)); len(others) > 0 {
		text += " Also possible: " + strings.Join(others, ", or ") + "."
	}
	return text
}

// lossParts returns the losses of a request by kind: data, others, those not deleted yet, and
// orphans. Targets and routine losses are left out.
func lossParts(s Style, l *lossIndex, r *report.LostRequest) []*part {
	asked := map[lostKind]int{}
	for _, x := range l.byRequest[r.N] {
		if l.isTarget(x) {
			asked[lostKind{x.Object.APIVersion, x.Object.Kind, x.State}]++
		}
	}
	data, volumes, rest, going, stay := kindCounts{}, kindCounts{}, kindCounts{}, kindCounts{}, kindCounts{}
	for _, k := range r.ByKind {
		key := lostKind{k.APIVersion, k.Kind, k.State}
		left := k.Count - min(k.Count, asked[key])
		asked[key] -= k.Count - left
		if left == 0 || k.Routine {
			continue
		}
		into := rest
		switch {
		case k.State == report.LossOrphaned:
			into = stay
		case k.State == report.LossBeingDeleted:
			into = going
		case k.Data == report.VolumeData:
			into = volumes
		case k.Data != "":
			into = data
		}
		into[kindName{k.APIVersion, k.Kind}] += left
	}
	const most = 2
	left := going.texts(s)
	if n := len(left); n > 0 {
		left[n-1] += " (why: " + s.gcIn(l.Namespace, "stuck") + ")"
	}
	return []*part{
		{label: "DATA", items: slices.Concat(volumes.texts(s), data.texts(s)), maxLines: most, noun: "kind"},
		{label: "WENT", items: rest.texts(s), maxLines: most, noun: "kind"},
		{label: "GOING", items: left, maxLines: most, noun: "kind"},
		{label: "STAYS", items: stay.texts(s), maxLines: most, noun: "kind"},
	}
}

type lostKind struct {
	apiVersion, kind string
	state            report.LossState
}

// lossesWithoutRequest lists the losses without a request, grouped by kind, namespace and cause.
func (w *writer) lossesWithoutRequest(l *lossIndex) {
	s := w.style
	type group struct{ kind, namespace, why string }
	var lost groups[group, object.Ref]
	_, others := l.withoutRequest()
	for _, x := range others {
		lost.add(group{x.Object.APIVersion + " " + x.Object.Kind, x.Object.Namespace, lossWhy(s, x)}, x.Object)
	}
	if len(others) == 0 {
		return
	}
	slices.SortStableFunc(lost.keys, func(a, b group) int { return cmp.Compare(len(lost.of[b]), len(lost.of[a])) })
	if len(requestsByImpact(l)) > 0 {
		w.line()
		w.prose("Not explained by a request:", 2)
	}
	const most = 3
	for i, g := range lost.keys {
		if i == most-1 && len(lost.keys) > most {
			w.line("  and " + strconv.Itoa(len(lost.keys)-i) + " more: -o wide")
			break
		}
		w.shortProse(2, "  "+s.summarizeRefs(lost.of[g], s.limit()/2)+": "+g.why, 4)
	}
}

// maxUserWidth and maxAgentWidth are the maximum widths of names that users choose.
const (
	maxUserWidth  = 60
	maxAgentWidth = 40
)

// bySender returns " by alice (kubectl/v1.37.2, 10.0.0.7)"; empty without an audit log entry.
func bySender(s Style, r *report.LostRequest) string {
	if r.Sent == nil {
		return ""
	}
	agent, _, _ := strings.Cut(r.Sent.UserAgent, " ")
	var from []string
	if agent != "" {
		from = append(from, cutMiddle(s.text(agent), maxAgentWidth, s))
	}
	if n := len(r.Sent.SourceIPs); n > 0 {
		from = append(from, s.text(r.Sent.SourceIPs[n-1]))
	}
	text := " by " + userText(s, r.Sent)
	if !r.Certain {
		text = ", perhaps" + text
	}
	if len(from) > 0 {
		text += " (" + strings.Join(from, ", ") + ")"
	}
	return text
}

// userText returns the user of a request, and the impersonated one.
func userText(s Style, sent *report.Sent) string {
	text := cutMiddle(s.text(sent.User), maxUserWidth, s)
	if sent.ImpersonatedUser != "" {
		text += " as " + cutMiddle(s.text(sent.ImpersonatedUser), maxUserWidth, s)
	}
	return text
}

// auditDetails writes all details of a request from the audit log.
func (w *writer) auditDetails(r *report.LostRequest) {
	if r.Sent == nil {
		return
	}
	s, x := w.style, r.Sent
	words := []string{s.text(x.Verb), "policy not in the log"}
	if x.Options != nil {
		words[1] = "no policy given"
		if x.Options.PropagationPolicy != "" {
			words[1] = "propagationPolicy " + s.text(x.Options.PropagationPolicy)
		}
		if grace := x.Options.GracePeriodSeconds; grace != nil {
			words = append(words, "gracePeriodSeconds "+strconv.FormatInt(*grace, 10))
		}
	}
	if x.UserAgent != "" {
		words = append(words, s.text(x.UserAgent))
	}
	if len(x.SourceIPs) > 0 {
		words = append(words, "from "+s.commaSeparated(x.SourceIPs))
	}
	if len(x.AuditIDs) > 0 {
		words = append(words, "audit ID "+report.FirstNames(object.Mapped(x.AuditIDs, s.text), 1))
	}
	text := "  Audit log: " + strings.Join(words, ", ") + "."
	if x.MatchedBy == "Selector" {
		text += " It matches by selector and time; the log does not name the objects."
	}
	w.prose(text, 4)
}

// withSender adds the sender of the DELETE to a cause that does not name it. If the audit log
// contradicts the history, it adds the cause that the history alone would give.
func withSender(s Style, x *report.Loss, text string) string {
	if x.Sent != nil && len(x.Or) == 0 {
		switch reason.Code(x.Code) {
		case reason.Evicted:
			text += " by " + userText(s, x.Sent)
		case reason.ByKubernetes, reason.CleanedUp:
			text += " (" + userText(s, x.Sent) + ")"
		default: // the cause names it
		}
	}
	if x.Contradicts != nil {
		text += "; history alone says: " + causeText(s, *x.Contradicts)
	}
	return text
}

// auditNotes returns the notes about gaps and contradictions of the audit log.
func auditNotes(s Style, l *lossIndex) []string {
	if l.AuditLog == nil {
		return nil
	}
	var notes []string
	for _, name := range l.AuditLog.CutOff {
		notes = append(notes, s.text(name)+" ends in the middle of a line: its last request is omitted.")
	}
	if text := auditCoverage(s, l); text != "" {
		notes = append(notes, text)
	}
	n := object.Count(l.Losses, func(l report.Loss) bool { return l.Contradicts != nil })
	if n > 0 {
		text := s.paint(bold, "The audit log contradicts") + " what history alone says about " + report.Plural(n, "object") + "."
		if !s.Wide {
			text += " Details: -o wide."
		}
		notes = append(notes, text)
	}
	return notes
}

// auditCoverage counts the deletes without a sender in the audit log.
func auditCoverage(s Style, l *lossIndex) string {
	if l.AuditLog.From == "" {
		return "The audit log is empty."
	}
	from, to := report.Moment{Time: l.AuditLog.From}, report.Moment{Time: l.AuditLog.To}
	first, last := secondsOf(l.AuditLog.From), secondsOf(l.AuditLog.To)
	when := "(" + clockText(s, l, from) + " to " + clockText(s, l, to) + " UTC)"
	switch begin, end := secondsOf(l.From.Time), secondsOf(l.To.Time); {
	case begin != 0 && last < begin:
		return "The audit log ends at " + momentText(s, l, to) + ": it has no entries for the examined time."
	case end != 0 && first > end:
		return "The audit log begins at " + momentText(s, l, from) + ": it has no entries for the examined time."
	case l.Summary.Deleted+l.Summary.BeingDeleted == 0:
		return ""
	case !slices.ContainsFunc(l.Losses, func(x report.Loss) bool { return x.Sent != nil }):
		return "The audit log " + when + " has no request that matches what was deleted."
	}
	requests := requestsByImpact(l)
	missing := object.Count(requests, func(r *report.LostRequest) bool { return r.Sent == nil })
	if missing == 0 {
		return ""
	}
	return "The audit log " + when + " is missing " + strconv.Itoa(missing) + " of " + report.Plural(len(requests), "delete") + "."
}

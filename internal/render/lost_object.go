package render

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// namedLoss returns the last loss of the one object that was asked about by name; nil if there is
// none.
func (l *lossIndex) namedLoss() *report.Loss {
	if len(l.Targets) != 1 {
		return nil
	}
	t := l.Targets[0]
	for i := range slices.Backward(l.Losses) {
		if o := l.Losses[i].Object; o.Kind == t.Kind && o.Namespace == t.Namespace && o.Name == t.Name && object.GroupOf(o.APIVersion) == object.GroupOf(t.APIVersion) {
			return &l.Losses[i]
		}
	}
	return nil
}

// crdLoss returns the last loss of a CRD if the object that was asked about by name has no loss
// itself.
func (l *lossIndex) crdLoss() *report.Loss {
	if len(l.Targets) != 1 || l.namedLoss() != nil {
		return nil
	}
	for i := range slices.Backward(l.Losses) {
		if l.Losses[i].Object.Is(object.CRD) {
			return &l.Losses[i]
		}
	}
	return nil
}

// objectLoss writes the loss of one object: time, cause, rule and the request behind it.
func (w *writer) objectLoss(l *lossIndex, x *report.Loss) {
	s := w.style
	w.shortProse(3, s.paint(red, s.nameInNamespace(x.Object)+" was deleted")+policyText(x.Policy)+" at "+momentText(s, l, x.Began)+": "+causeClause(s, x)+".", 2)
	if m := reason.Lost.Of(reason.Code(x.Code)); m != nil && len(x.Or) == 0 {
		w.prose(m.Long, 2)
	}
	for i := range l.Requests {
		if r := &l.Requests[i]; r.N == x.Request {
			w.shortProse(2, "This began with a delete of "+s.summarizeRefs(r.Objects, s.limit()/2)+" at "+momentText(s, l, r.At)+".", 2)
			if !r.Certain {
				w.shortProse(2, uncertaintyText(s, l, r), 2)
			}
		}
	}
	list, counted := shortLossTable(s, l), false
	if list == nil {
		list, counted = lossTable(s, l, l.chain(x)), true
	}
	switch {
	case s.Wide:
		w.line()
		w.allLosses(l)
	case len(list.rows) > 1:
		w.titled("", list)
	}
	if counted && !s.Wide {
		w.otherLosses(l, x)
	}
}

// causeClause returns the cause of a loss as a clause.
func causeClause(s Style, x *report.Loss) string {
	text := lossWhy(s, x)
	switch first, _, _ := strings.Cut(text, " "); first {
	case "went", "belonged", "lost", "was":
		return "it " + text
	}
	return "it was " + text
}

// chain returns the losses that led to a loss, the first one first.
func (l *lossIndex) chain(x *report.Loss) []*report.Loss {
	at := map[object.Ref]*report.Loss{}
	for i := range l.Losses {
		at[l.Losses[i].Object] = &l.Losses[i]
	}
	list := []*report.Loss{x}
	for x.By != nil && at[*x.By] != nil && !slices.Contains(list, at[*x.By]) {
		x = at[*x.By]
		list = append(list, x)
	}
	slices.Reverse(list)
	return list
}

// otherLosses counts the other losses of the same answer.
func (w *writer) otherLosses(l *lossIndex, x *report.Loss) {
	told := l.chain(x)
	counts := kindCounts{}
	for i := range l.Losses {
		if other := &l.Losses[i]; !other.Routine && !slices.Contains(told, other) && other.State != report.LossOrphaned {
			counts.add(other.Object)
		}
	}
	w.part(&part{label: "WENT", items: counts.texts(w.style), maxLines: 2, noun: "kind"})
}

// objectLossNotes writes more facts about one deleted object: its sender, owners and replacements.
func (w *writer) objectLossNotes(l *lossIndex) {
	s, x := w.style, l.namedLoss()
	if x == nil || x.State != report.LossDeleted {
		return
	}
	if x.Code == string(reason.Requested) && len(x.Or) == 0 && len(l.Losses) == 1 {
		w.prose("A client sent a DELETE for it.", 2)
	}
	told := l.chain(x)
	owners := slices.DeleteFunc(slices.Clone(x.OwnersThen), func(o object.Ref) bool {
		return x.By != nil && o == *x.By || slices.ContainsFunc(told, func(t *report.Loss) bool { return t.Object == o })
	})
	if len(owners) > 0 {
		w.prose("Owned by "+s.firstRefs(owners, maxNames)+" until then.", 2)
	}
	if len(x.ReplacedBy) > 0 {
		w.prose("Replaced by: "+s.firstRefs(x.ReplacedBy, maxNames)+".", 2)
	}
}

// hidesInstances reports whether the instances of a CRD are not shown for one of the reasons.
func (l *lossIndex) hidesInstances(crd string, whys ...reason.Code) bool {
	return slices.ContainsFunc(l.Gaps, func(g report.Gap) bool {
		name, why := crdOf(g)
		return name == crd && slices.Contains(whys, why)
	})
}

// unseenInstance writes the loss of the CRD of an object that was not seen itself.
func (w *writer) unseenInstance(l *lossIndex, crd *report.Loss) {
	s := w.style
	name := s.namespacedName(l.Targets[0])
	kind := s.text(l.Targets[0].Kind)
	text := s.paint(red, s.name(crd.Object)+" was deleted") + " at " + momentText(s, l, crd.Began) + ", and every " + kind + " with it."
	if crd.State == report.LossBeingDeleted {
		text = s.paint(yellow, s.name(crd.Object)+" has been Terminating") + " since " + momentText(s, l, crd.Began) + "; every " + kind + " goes with it."
	}
	w.shortProse(3, text, 2)
	unknown := ": unknown whether " + name + " was one."
	switch {
	case l.hidesInstances(crd.Object.Name, reason.CRDGone):
		w.prose("While it is gone, the API server shows none of them"+unknown, 2)
	case l.hidesInstances(crd.Object.Name, reason.CRDVersionGone, reason.CRDScopeChanged, reason.CRDKindChanged):
		w.prose("The API server does not show all of them"+unknown, 2)
	default:
		w.prose(name+" is not among those that could be read.", 2)
	}
}

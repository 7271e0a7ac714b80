package lost

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Restorable returns the losses that an undo brings back: those of the question, what was deleted
// with them, and the namespaces and CRDs that they need. What a controller other than the garbage
// collector deleted is left out, unless it is named.
func Restorable(a *history.Account, q Question) []int {
	picked, usual := pick(a, q), q.routines(a)
	chosen := map[*history.Loss]bool{}
	for i := range a.Losses {
		l := &a.Losses[i]
		chosen[l] = picked[i] && !usual[i] && (q.Objects != nil || asked(l) || collected(l))
	}
	which := a.With(func(l *history.Loss) bool { return chosen[l] })
	return withPlaces(a, which, q.Objects == nil)
}

// CutOff returns the namespaces and CRDs among some losses with a deletion that began before the
// history.
func CutOff(a *history.Account, which []int) []report.Ref {
	var refs []report.Ref
	for _, i := range which {
		l := &a.Losses[i]
		if l.Cause.Code == history.Before && (l.Object.Is(object.Namespace) || l.Object.Is(object.CRD)) {
			refs = append(refs, report.RefOf(l.Object.Ref))
		}
	}
	return sorted(refs)
}

// Older returns what an undo without a time limit would bring back; nil for nothing.
func Older(a *history.Account, q Question) *report.OlderLosses {
	wanted := map[types.UID]bool{}
	for _, i := range Restorable(a, q) {
		wanted[a.Losses[i].Object.UID] = true
	}
	older, d := &report.OlderLosses{}, Document(a, q)
	for i := range d.Losses {
		l := &d.Losses[i]
		if !wanted[l.Object.UID] || !comesBack(d, l) {
			continue
		}
		if older.Objects++; l.Began.Revision >= older.At.Revision {
			older.Last, older.At = l.Object, l.Began
		}
	}
	if older.Objects == 0 {
		return nil
	}
	if len(d.Remedies) > 0 {
		older.Then = &d.Remedies[0]
	}
	return older
}

// asked reports whether a loss was requested, or may have been.
func asked(l *history.Loss) bool {
	by := func(c history.Cause) bool {
		return c.Request >= 0 || c.Code == history.Requested || c.Code == history.Unseen || c.Code == history.Before
	}
	return by(l.Cause) || slices.ContainsFunc(l.Or, by)
}

// collected reports whether an object was deleted because of its owner or container.
func collected(l *history.Loss) bool {
	switch l.Cause.Code {
	case history.OwnerGone, history.OwnerReplaced, history.OwnerNamespaceMismatch, history.OwnerWaits, history.OwnerOrphans, history.ReferenceRemoved, history.OwnerUnknown,
		history.NamespaceDeleted, history.NamespaceUnknown, history.DefinitionDeleted, history.DefinitionUnknown, history.ClaimGone:
		return true
	default:
		return false
	}
}

// withPlaces adds the deleted namespaces and CRDs without which the chosen losses cannot be created.
// If owners is set, it also adds the CRDs of the owners that took them along.
func withPlaces(a *history.Account, which []int, owners bool) []int {
	spaces, kinds := map[string]bool{}, map[[2]string]bool{}
	for _, i := range which {
		ref := a.Losses[i].Object.Ref
		spaces[ref.Namespace], kinds[[2]string{ref.Group(), ref.Kind}] = true, true
		if by := a.Losses[i].Cause.By; owners {
			kinds[[2]string{by.Group(), by.Kind}] = true
		}
	}
	for i := range a.Losses {
		o := a.Losses[i].Object
		crd := o.Definition()
		if o.Is(object.Namespace) && spaces[o.Name] || crd != nil && kinds[[2]string{crd.Group, crd.Kind}] {
			which = append(which, i)
		}
	}
	slices.Sort(which)
	return slices.Compact(which)
}

// Kinds returns the kinds that CRDs define.
func Kinds(a *history.Account, crds []int) []schema.GroupKind {
	kinds := make([]schema.GroupKind, len(crds))
	for n, i := range crds {
		crd := a.Losses[i].Object.Definition()
		kinds[n] = schema.GroupKind{Group: crd.Group, Kind: crd.Kind}
	}
	return kinds
}

// Below returns losses, and those of the dependents of owners, in a namespace or in all, with what
// was deleted with these.
func Below(a *history.Account, which []int, owners map[types.UID]bool, namespace string) []int {
	all := slices.Clone(which)
	for _, i := range a.With(func(l *history.Loss) bool {
		return slices.ContainsFunc(l.Object.Owners, func(r object.OwnerReference) bool { return owners[r.UID] })
	}) {
		if namespace == "" || a.Losses[i].Object.Namespace == namespace {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// usualMemory is how many seconds an API server with default settings remembers a write, at least.
//
// Upstream: apiserver/pkg/storage/etcd3/compact.go compactor.
const usualMemory = 300

// Later returns what an undo cannot bring back before CRDs exist again: their objects. The server
// remembers them for some time. The command brings them back then.
func Later(a *history.Account, crds []int, q Question) *report.LaterUndo {
	later := &report.LaterUndo{}
	first := a.Past.To
	for _, i := range crds {
		l := &a.Losses[i]
		later.CRDs = append(later.CRDs, report.RefOf(l.Object.Ref))
		if at := a.Past.Clock.At(a.Began(l)); at.Time != 0 && at.Time < first.Time {
			first = at
		}
	}
	sorted(later.CRDs)
	if first.Time != 0 {
		later.Remembered = momentOf(history.Moment{Time: first.Time + usualMemory}).Time
	}
	act := report.Act{Action: report.BringBack, Revision: int64(a.Past.From.Revision)}
	act.Target.Namespace = q.Namespace
	if len(q.Objects) == 1 {
		act.Target = report.RefOf(q.Objects[0])
	}
	later.Then = act.Remedy("brings back what they defined")
	return later
}

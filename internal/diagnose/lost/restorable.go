package lost

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Restorable are the losses that an undo brings back: those that are asked about, what went
// with them, and the namespaces and CRDs without which they cannot be. What another controller
// than the garbage collector took is left to it, unless it is named.
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

// CutOff are the namespaces and CRDs among some losses whose deletion had begun before the history does.
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

// Older is what an undo that asks for no time would bring back; nil for nothing.
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

// asked reports whether somebody has asked for a loss, or may have.
func asked(l *history.Loss) bool {
	by := func(c history.Cause) bool {
		return c.Request >= 0 || c.Code == history.Requested || c.Code == history.Unseen || c.Code == history.Before
	}
	return by(l.Cause) || slices.ContainsFunc(l.Or, by)
}

// collected reports whether a loss went with what it belonged to.
func collected(l *history.Loss) bool {
	switch l.Cause.Code {
	case history.OwnerGone, history.OwnerReplaced, history.OwnerNamespaceMismatch, history.OwnerWaits, history.OwnerOrphans, history.ReferenceRemoved, history.OwnerUnknown,
		history.NamespaceDeleted, history.NamespaceUnknown, history.DefinitionDeleted, history.DefinitionUnknown, history.ClaimGone:
		return true
	default:
		return false
	}
}

// withPlaces adds the namespaces and CRDs that went, too, and without which what is chosen
// cannot be made; and the CRDs of the owners that it went with, if those come back, too.
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

// Kinds are what CRDs define.
func Kinds(a *history.Account, crds []int) []schema.GroupKind {
	kinds := make([]schema.GroupKind, len(crds))
	for n, i := range crds {
		crd := a.Losses[i].Object.Definition()
		kinds[n] = schema.GroupKind{Group: crd.Group, Kind: crd.Kind}
	}
	return kinds
}

// Below are losses, what belonged to owners, in a namespace or in all, and what went with that.
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

// usualMemory is for how many seconds at least an API server with the usual settings remembers
// a write.
//
// Upstream: apiserver/pkg/storage/etcd3/compact.go compactor.
const usualMemory = 300

// Later is what an undo cannot bring back before CRDs are there again: their objects, of which
// the server remembers for some time what they were. The command is the one that does it then.
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

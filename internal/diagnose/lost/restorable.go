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
	picked := pick(a, q)
	chosen := map[*history.Loss]bool{}
	for i := range a.Losses {
		l := &a.Losses[i]
		chosen[l] = picked[i] && !q.routine(l) && (q.Objects != nil || asked(l) || collected(l))
	}
	which := a.With(func(l *history.Loss) bool { return chosen[l] })
	return withPlaces(a, which)
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
	case history.OwnerGone, history.OwnerReplaced, history.OwnerWaits, history.OwnerOrphans, history.ReferenceRemoved, history.OwnerUnknown,
		history.NamespaceDeleted, history.NamespaceUnknown, history.DefinitionDeleted, history.DefinitionUnknown, history.ClaimGone:
		return true
	default:
		return false
	}
}

// withPlaces adds the namespaces and CRDs that went, too, and without which what is chosen
// cannot be made.
func withPlaces(a *history.Account, which []int) []int {
	spaces, kinds := map[string]bool{}, map[[2]string]bool{}
	for _, i := range which {
		ref := a.Losses[i].Object.Ref
		spaces[ref.Namespace], kinds[[2]string{ref.Group(), ref.Kind}] = true, true
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

// Definitions are those of the losses that are CRDs: those whose objects the server does not
// show while they are gone, and those that are there again, so that it does.
func Definitions(a *history.Account, which []int) (gone, back, others []int) {
	for _, i := range which {
		l := &a.Losses[i]
		switch crd := l.Object.Definition(); {
		case crd == nil || l.Gone == 0:
			others = append(others, i)
		case servedIn(a, crd):
			back = append(back, i)
		default:
			gone = append(gone, i)
		}
	}
	return gone, back, others
}

// Instances are the collections that went with CRDs, as they were before that, in a namespace or
// in all.
func Instances(a *history.Account, crds []int, namespace string) []history.Collection {
	var all []history.Collection
	for _, i := range crds {
		l := &a.Losses[i]
		crd := l.Object.Definition()
		for _, v := range crd.Versions {
			if v.Served {
				of := history.Collection{APIVersion: crd.Group + "/" + v.Name, Kind: crd.Kind, Revision: max(a.Began(l)-1, a.Past.From.Revision)}
				if crd.Namespaced {
					of.Namespace = namespace
				}
				all = append(all, of)
				break
			}
		}
	}
	return all
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

// Below are the losses of what belonged to owners, and of all that went with it.
func Below(a *history.Account, owners map[types.UID]bool) []int {
	return a.With(func(l *history.Loss) bool {
		return slices.ContainsFunc(l.Object.Owners, func(r object.OwnerReference) bool { return owners[r.UID] })
	})
}

// servedIn reports whether the server serves what a CRD defines.
func servedIn(a *history.Account, crd *object.CRDFacts) bool {
	return slices.ContainsFunc(crd.Versions, func(v object.CRDVersion) bool {
		_, err := a.Past.Resources.For(crd.Group+"/"+v.Name, crd.Kind)
		return err == nil
	})
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

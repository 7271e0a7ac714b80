package past

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Restorable returns the indexes of the losses that an undo brings back: those of the question,
// what was deleted with them, and the namespaces and CRDs that they need. It leaves out objects
// that a controller deleted for a reason that is not in wasCollected, unless they are named.
func Restorable(a *Account, q LostQuestion) []int {
	picked, usual := selectLosses(a, q), q.markRoutine(a)
	chosen := map[*Loss]bool{}
	for i := range a.Losses {
		l := &a.Losses[i]
		chosen[l] = picked[i] && !usual[i] && (q.Objects != nil || isRequested(l) || wasCollected(l))
	}
	which := a.WithCaused(func(l *Loss) bool { return chosen[l] })
	return withContainers(a, which, q.Objects == nil)
}

// BeganBefore returns the namespaces and CRDs among some losses with a deletion that began before
// the history.
func BeganBefore(a *Account, which []int) []object.Ref {
	var refs []object.Ref
	for _, i := range which {
		l := &a.Losses[i]
		if l.Cause.Code == reason.Before && l.Object.IsContainer() {
			refs = append(refs, l.Object.Ref)
		}
	}
	return sorted(refs)
}

// Older returns what an undo without a time limit would bring back; nil for nothing.
func Older(a *Account, q LostQuestion) *report.OlderLosses {
	wanted := map[types.UID]bool{}
	for _, i := range Restorable(a, q) {
		wanted[a.Losses[i].Object.UID] = true
	}
	older, d := &report.OlderLosses{}, LostDocument(a, q)
	for i := range d.Losses {
		l := &d.Losses[i]
		if !wanted[l.Object.UID] || !isRestorable(d, l) {
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

// isRequested reports whether a loss was requested, or may have been.
func isRequested(l *Loss) bool {
	by := func(c Cause) bool {
		return c.Request >= 0 || c.Code == reason.Requested || c.Code == reason.Unseen || c.Code == reason.Before
	}
	return by(l.Cause) || slices.ContainsFunc(l.Or, by)
}

// wasCollected reports whether an object was lost because of its owner, namespace, CRD or claim.
func wasCollected(l *Loss) bool {
	switch l.Cause.Code {
	case reason.OwnerGone, reason.OwnerReplaced, reason.OwnerNamespaceMismatch, reason.OwnerWaits, reason.OwnerOrphans, reason.ReferenceRemoved, reason.OwnerUnknown,
		reason.NamespaceDeleted, reason.NamespaceUnknown, reason.DefinitionDeleted, reason.DefinitionUnknown, reason.ClaimGone:
		return true
	default:
		return false
	}
}

// withContainers adds the deleted namespaces and CRDs without which the chosen losses cannot be
// created. If owners is set, it also adds the CRDs of the owners that took them along.
func withContainers(a *Account, which []int, owners bool) []int {
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

// DefinedKinds returns the kinds that CRDs define.
func DefinedKinds(a *Account, crds []int) []schema.GroupKind {
	kinds := make([]schema.GroupKind, len(crds))
	for n, i := range crds {
		crd := a.Losses[i].Object.Definition()
		kinds[n] = schema.GroupKind{Group: crd.Group, Kind: crd.Kind}
	}
	return kinds
}

// WithDependents returns which, and the losses in a namespace, or in all if it is empty, of
// dependents of the owners and of what was deleted with these dependents.
func WithDependents(a *Account, which []int, owners map[types.UID]bool, namespace string) []int {
	all := slices.Clone(which)
	for _, i := range a.WithCaused(func(l *Loss) bool {
		return slices.ContainsFunc(l.Object.Owners, func(r object.OwnerReference) bool { return owners[r.UID] })
	}) {
		if namespace == "" || a.Losses[i].Object.Namespace == namespace {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// defaultMemorySeconds is how many seconds an API server with default settings remembers a write,
// at least.
//
// Upstream: apiserver/pkg/storage/etcd3/compact.go compactor.
const defaultMemorySeconds = 300

// LaterUndo describes a second undo: the objects of CRDs cannot come back before the CRDs exist
// again. Remembered is until when the server remembers these objects. Then is the command.
func LaterUndo(a *Account, crds []int, q LostQuestion) *report.LaterUndo {
	later := &report.LaterUndo{}
	first := a.Past.To
	for _, i := range crds {
		l := &a.Losses[i]
		later.CRDs = append(later.CRDs, l.Object.Ref)
		if at := a.Past.Clock.At(a.RequestRevision(l)); at.Time != 0 && at.Time < first.Time {
			first = at
		}
	}
	sorted(later.CRDs)
	if first.Time != 0 {
		later.Remembered = momentOf(Moment{Time: first.Time + defaultMemorySeconds}).Time
	}
	act := report.Act{Action: report.BringBack, Revision: int64(a.Past.From.Revision)}
	act.Target.Namespace = q.Namespace
	if len(q.Objects) == 1 {
		act.Target = q.Objects[0]
	}
	later.Then = act.Remedy("brings back what they defined")
	return later
}

// crdState is the current state of a CRD that was deleted.
type crdState struct {
	// last is its last known content: the current one, or the one that it will have once it is
	// back.
	last *object.CRDFacts
	// served is true if the server serves the kind that the CRD defined.
	served bool
	// unread is why the server does not show the CRD's former objects, even if the CRD is back;
	// empty if it does.
	unread reason.Code
	// missingVersion is the missing version if unread is CRDVersionGone.
	missingVersion string
}

// crdStates has the state of all CRDs of an account, by name.
type crdStates struct {
	resources *object.Resources
	// deleted has the last content of each CRD before it was deleted. current has the content of
	// those that exist again. exists reports whether a CRD exists.
	deleted, current map[string]*object.CRDFacts
	exists           map[string]bool
}

func crdStatesOf(a *Account) *crdStates {
	d := &crdStates{a.Past.Resources, map[string]*object.CRDFacts{}, map[string]*object.CRDFacts{}, map[string]bool{}}
	for i := range a.Losses {
		if o := a.Losses[i].Object; o.Definition() != nil {
			d.deleted[o.Name] = o.Definition()
		}
	}
	for i := range a.Past.Changes {
		c := &a.Past.Changes[i]
		if !c.Object.Is(object.CRD) {
			continue
		}
		d.exists[c.Object.Name] = c.Type != object.Deleted
		if crd := c.Object.Definition(); c.Type != object.Deleted && crd != nil {
			d.current[c.Object.Name] = crd
		} else {
			delete(d.current, c.Object.Name)
		}
	}
	return d
}

// stateOf returns the current state of the CRD of a loss.
func (d *crdStates) stateOf(l *Loss) crdState {
	was, name := l.Object.Definition(), l.Object.Name
	last := cmp.Or(d.current[name], d.deleted[name], was)
	versions := was.Versions // if it is served, it was created again after the end of the past
	if d.exists[name] {
		versions = last.Versions
	}
	served := slices.ContainsFunc(versions, func(v object.CRDVersion) bool {
		_, err := d.resources.For(was.Group+"/"+v.Name, last.Kind)
		return err == nil
	})
	why, lacks := unreadable(was, last)
	return crdState{last, served, why, lacks}
}

// unreadable returns why the server does not show objects of a CRD through a later one of the same
// name. The server refuses to convert a version that it does not know, and looks elsewhere for
// another kind or scope.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/conversion/converter.go crConverter.ConvertToVersion.
func unreadable(was, now *object.CRDFacts) (why reason.Code, lacks string) {
	switch {
	case was.Kind != now.Kind:
		return reason.CRDKindChanged, ""
	case was.Namespaced != now.Namespaced:
		return reason.CRDScopeChanged, ""
	}
	for _, v := range was.Versions {
		if v.Storage && !slices.ContainsFunc(now.Versions, func(x object.CRDVersion) bool { return x.Name == v.Name }) {
			return reason.CRDVersionGone, v.Name
		}
	}
	return "", ""
}

// servedVersion returns a version that serves the former objects of a CRD. It prefers a version of
// that CRD.
func (d *crdState) servedVersion(was *object.CRDFacts) (name string, served bool) {
	for _, v := range slices.Concat(was.Versions, d.last.Versions) {
		if v.Served && slices.ContainsFunc(d.last.Versions, func(x object.CRDVersion) bool { return x.Name == v.Name && x.Served }) {
			return v.Name, true
		}
	}
	return "", false
}

// SplitCRDs sorts the losses that are CRDs. gone has those that make their objects unreadable
// while they are gone, one per name. back has those that exist again, or come back with another one
// of the same name. others has the rest.
func SplitCRDs(a *Account, which []int) (gone, back, others []int) {
	last := map[string]int{}
	for _, i := range which {
		if l := &a.Losses[i]; l.Object.Is(object.CRD) {
			last[l.Object.Name] = i
		}
	}
	crds := crdStatesOf(a)
	for _, i := range which {
		l := &a.Losses[i]
		switch {
		case l.Object.Definition() == nil || l.Gone == 0:
			others = append(others, i)
		case last[l.Object.Name] != i || crds.stateOf(l).served:
			back = append(back, i)
		default:
			gone = append(gone, i)
		}
	}
	return gone, back, others
}

// Instances returns the collections that were deleted with CRDs, as they were just before, the
// latest first. They are limited to the namespace of the question. A question about one instance
// does not include all of its kind.
func Instances(a *Account, crds []int, q LostQuestion) []Collection {
	picked, now := selectLosses(a, q), crdStatesOf(a)
	var all []Collection
	for _, i := range slices.Backward(slices.Sorted(slices.Values(crds))) {
		l := &a.Losses[i]
		crd, d := l.Object.Definition(), now.stateOf(l)
		version, served := d.servedVersion(crd)
		if d.unread != "" || !served || q.Objects != nil && !picked[i] {
			continue
		}
		of := Collection{APIVersion: crd.Group + "/" + version, Kind: crd.Kind, Revision: max(a.RequestRevision(l)-1, a.Past.From.Revision)}
		if crd.Namespaced {
			of.Namespace = q.Namespace
		}
		all = append(all, of)
	}
	return all
}

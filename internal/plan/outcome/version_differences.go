package outcome

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// markOtherRelease marks outcomes as Unknown that differ if the cluster runs an older release than
// the simulated one.
func (j *Judge) markOtherRelease(all *Outcomes) {
	if j.Snap.Version().Doubts(release.UpdatesWithoutNamespace) && j.Snap.Covers(object.Namespace.Resource(), "") {
		j.markUpdates(all)
	}
	if j.Snap.Version().Doubts(release.OrderedNamespaces) {
		j.markUnordered(all)
	}
	if j.Snap.Version().Doubts(release.OwnersByPlace) {
		j.markMisplaced(all)
	}
}

// markUpdates marks objects that lose a finalizer or a reference although their namespace is gone,
// and objects that can only go after them: their owners, and the CRD of their kind.
//
// kubernetes/kubernetes#140661.
func (j *Judge) markUpdates(all *Outcomes) {
	var open []*Outcome
	for _, out := range all.All() {
		if first := out.Track.First; out.Track.updated && (out.Result == report.Deleted || out.Result == report.Pruned) &&
			first.Namespace != "" && j.Snap.FindKind(object.Namespace, "", first.Namespace) == nil {
			out.MarkUnknown(reason.UpdateUnknown)
			open = append(open, out)
		}
	}
	waits := map[*Outcome][]object.Ref{}
	for len(open) > 0 {
		out := open[len(open)-1]
		open = open[:len(open)-1]
		for _, after := range j.after(all, out.Track.First) {
			if after.Track.updated && after.Result == report.Deleted {
				after.MarkUnknown(reason.DependentUnknown)
				open = append(open, after)
			}
			if after.Reason == string(reason.DependentUnknown) {
				waits[after] = append(waits[after], out.Track.First.Ref)
			}
		}
	}
	for after, refs := range waits {
		slices.SortFunc(refs, object.Compare)
		after.Blocked = &report.BlockedBy{}
		for _, r := range slices.Compact(refs) {
			after.Blocked.Dependents = append(after.Blocked.Dependents, r)
		}
	}
}

// after returns the outcomes of the objects that may be deleted only after o: its owners and
// containers.
func (j *Judge) after(all *Outcomes, o *object.Object) []*Outcome {
	refs := j.containers(o)
	for _, owner := range o.Owners {
		refs = append(refs, j.Locate(owner, o.Namespace))
	}
	var list []*Outcome
	for _, ref := range refs {
		if out := j.Of(all, ref); out != nil {
			list = append(list, out)
		}
	}
	return list
}

// markUnordered marks what stays in a namespace because its pods are deleted first.
//
// KEP-5080.
func (j *Judge) markUnordered(all *Outcomes) {
	namespaces := map[string]*Outcome{}
	for _, w := range controllers.Waiting(j.Controllers) {
		if w.Reason != controllers.PodsRemain {
			continue
		}
		if out := j.Of(all, w.Object); out != nil {
			namespaces[w.Object.Name] = out
		}
	}
	if len(namespaces) == 0 {
		return
	}
	for _, o := range j.Server.Objects() {
		namespace := namespaces[o.Namespace]
		if namespace == nil || o.BeingDeleted() || o.Is(object.Pod) {
			continue
		}
		out := j.OfObject(all, o)
		if out == nil {
			out = &Outcome{Track: j.Tracks.Of(o), Because: []object.Ref{namespace.Track.First.Ref}, AlreadyHappening: namespace.AlreadyHappening}
			j.set(all, o, out)
		}
		out.MarkUnknown(reason.NamespaceOrderUnknown)
	}
}

// markMisplaced marks objects with an owner that some reference looks for in a wrong namespace.
//
// kubernetes/kubernetes#65200.
func (j *Judge) markMisplaced(all *Outcomes) {
	misnamed := misnamedOwners(j.Snap)
	if len(misnamed) == 0 {
		return
	}
	for _, o := range j.Server.Objects() {
		owners := named(misnamed, o)
		out := j.OfObject(all, o)
		if len(owners) == 0 || o.BeingDeleted() || out == nil && !j.Collects || out != nil && out.Result != report.Kept && out.Result != report.Pruned {
			continue
		}
		if out == nil {
			out = &Outcome{Track: j.Tracks.Of(o)}
			j.set(all, o, out)
		}
		out.Because = owners
		out.MarkUnknown(reason.OwnerMisnamed)
	}
}

// OwnersMisplaced returns the owners of an object that some reference looks for in a wrong namespace,
// if the release of the cluster may delete the object because of that.
func OwnersMisplaced(snap *snapshot.Snapshot, o *object.Object) []object.Ref {
	if o == nil || len(o.Owners) == 0 || !snap.Version().Doubts(release.OwnersByPlace) {
		return nil
	}
	return named(misnamedOwners(snap), o)
}

// named returns the owners of an object that are in misnamed.
func named(misnamed map[types.UID]bool, o *object.Object) []object.Ref {
	var owners []object.Ref
	for _, ref := range o.Owners {
		if misnamed[ref.UID] {
			owners = append(owners, object.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID})
		}
	}
	return owners
}

// misnamedOwners returns the uids of namespaced owners that have references from different
// namespaces, or from outside of their own.
func misnamedOwners(snap *snapshot.Snapshot) map[types.UID]bool {
	misnamed, place := map[types.UID]bool{}, map[types.UID]string{}
	namespaced := map[[2]string]bool{}
	for _, r := range snap.Resources.All() {
		namespaced[[2]string{r.APIVersion(), r.Kind}] = r.Namespaced
	}
	see := func(uid types.UID, namespace string) {
		if first, ok := place[uid]; !ok {
			place[uid] = namespace
		} else if first != namespace {
			misnamed[uid] = true
		}
	}
	for _, o := range snap.Objects {
		for _, ref := range o.Owners {
			if !namespaced[[2]string{ref.APIVersion, ref.Kind}] {
				continue
			}
			see(ref.UID, o.Namespace)
			if o.Namespace == "" {
				misnamed[ref.UID] = true
			}
		}
	}
	for _, o := range snap.Objects {
		if _, owns := place[o.UID]; owns {
			see(o.UID, o.Namespace)
		}
	}
	return misnamed
}

package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// requiredReleases computes the finalizers that must be removed before an object can change, from
// the objects that it waits for or that keep it, in one state of the simulation.
type requiredReleases struct {
	snap           *snapshot.Snapshot
	tracks         *outcome.Tracks
	judge          *outcome.Judge
	priorDeletions *priorDeletions
	controllers    *finalizerControllers
	outcomes       *outcome.Outcomes
	cache          map[outcome.Key]*releaseSet
	unions         unionCache
	// podsByClaim returns the pods that use a PVC, by its namespace and name.
	podsByClaim func() map[[2]string][]*object.Object
}

func (s *simulation) requiredReleases(all *outcome.Outcomes) requiredReleases {
	var pods map[[2]string][]*object.Object
	return requiredReleases{
		snap: s.snap, tracks: s.tracks, judge: s.judge, priorDeletions: &s.priorDeletions, controllers: &s.finalizerControllers,
		outcomes: all, cache: map[outcome.Key]*releaseSet{}, unions: unionCache{},
		podsByClaim: func() map[[2]string][]*object.Object {
			if pods == nil {
				pods = podsByClaim(s.snap)
			}
			return pods
		},
	}
}

// releasesFor returns the finalizers that must be removed before an object can change. It follows
// the objects that block it or, if it is neither blocked nor deleted, its owners, namespace and
// claim.
func (h requiredReleases) releasesFor(o *object.Object) *releaseSet {
	key := h.tracks.Key(o)
	if list, ok := h.cache[key]; ok {
		return list
	}
	h.cache[key] = nil // a cycle adds nothing
	var found releaseSetBuilder
	out := h.outcomes.At(key)
	if out != nil && out.Track.First.Ref != o.Ref {
		out = nil
	}
	switch {
	case out != nil && out.Blocked != nil:
		found.addReleases(h.namedReleases(o, out.Blocked.Finalizers))
		for _, d := range out.Blocked.Dependents {
			found.addSet(h.releasesAt(d))
		}
		if found.isEmpty() && recoveryFrom(reason.Code(out.Reason)) != "" {
			found.addSet(noReleases)
		}
	case out != nil && out.Result == report.Deleted:
	case out == nil && h.tracks.At(key) != nil && h.tracks.At(key).Awaited:
		found.addReleases(h.controllers.releasesOf(o))
		for _, d := range h.priorDeletions.waitsFor[key] {
			found.addSet(h.releasesAt(d))
		}
	default:
		for _, ref := range o.Owners {
			found.addSet(h.releasesAt(h.judge.Locate(ref, o.Namespace)))
		}
		if from := h.tracks.Deployer(o); from != nil {
			found.addSet(h.releasesByDeployer(from.Ref))
		}
		if o.Namespace != "" && found.isEmpty() {
			found.addSet(h.releasesAt(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}))
		}
		for _, claim := range outcome.ClaimOf(o) {
			found.addSet(h.releasesAt(claim))
		}
		if o.BeingDeleted() {
			found.addReleases(slices.DeleteFunc(h.controllers.releasesOf(o), isProtection))
			if o.Is(object.PVC) {
				for _, pod := range h.podsByClaim()[[2]string{o.Namespace, o.Name}] {
					found.addSet(h.releasesFor(pod))
				}
			}
		}
	}
	list := found.build(h.unions)
	h.cache[key] = list
	return list
}

// isProtection reports whether a finalizer goes with the users of its object.
func isProtection(r report.Release) bool {
	k, known := finalizer.Of(r.Finalizer)
	return known && k.Class == finalizer.Protection
}

func podsByClaim(snap *snapshot.Snapshot) map[[2]string][]*object.Object {
	pods := map[[2]string][]*object.Object{}
	for _, o := range snap.All(object.Pod.GroupResource()) {
		if p := o.Pod(); p != nil {
			for _, c := range p.Claims {
				at := [2]string{o.Namespace, c.Name}
				pods[at] = append(pods[at], o)
			}
		}
	}
	return pods
}

// releasesAt returns the finalizers for the object at some coordinates. nil if it is not in the
// snapshot.
func (h requiredReleases) releasesAt(ref object.Ref) *releaseSet {
	o := h.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil
	}
	return h.releasesFor(o)
}

// releasesByDeployer returns the finalizers that have to be removed from an object before its deployer
// is known to have deleted what it has applied. A deployer that runs deletes that before it removes
// its finalizer, so that nothing has to be removed.
func (h requiredReleases) releasesByDeployer(ref object.Ref) *releaseSet {
	none := &releaseSet{othersGone: true, deployer: ref.ShortName()}
	o := h.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return none
	}
	held := slices.DeleteFunc(h.controllers.releasesOf(o), func(r report.Release) bool {
		return hasRunningController(r) || finalizer.DeployerOf(o.Ref, r.Finalizer) == nil
	})
	return cmp.Or(newReleaseSet(held), none)
}

// namedReleases returns the releases of the named finalizers of an object.
func (h requiredReleases) namedReleases(o *object.Object, names []string) []report.Release {
	return slices.DeleteFunc(h.controllers.releasesOf(o), func(r report.Release) bool { return !slices.Contains(names, r.Finalizer) })
}

// releaseSet is a set of finalizers that must be removed before something happens. Objects below
// the same root wait for the same set. So it is built once, shared by many effects, and never
// changed. A nil releaseSet is empty.
type releaseSet struct {
	list []report.Release
	// withRunning and withoutRunning count the finalizers with and without a running controller.
	// firstRunning and firstOther are the indexes of the first of each.
	withRunning, withoutRunning int
	firstRunning, firstOther    int
	// othersGone is true if the controllers of all of withoutRunning are gone, othersPaused if something
	// pauses all of them.
	othersGone, othersPaused bool
	// deployer is the object with which a deployer deletes what waits. Empty if there is none.
	deployer string
	// runningOnly contains those with a running controller. It is computed on first use.
	runningOnly *releaseSet
}

// noReleases is the set of an object that is known to wait for something else, such as a kubelet. The set of an
// object about which nothing is known is nil.
var noReleases = &releaseSet{othersGone: true}

func newReleaseSet(list []report.Release) *releaseSet {
	if len(list) == 0 {
		return nil
	}
	o := &releaseSet{list: slices.Clip(list), othersGone: true, othersPaused: true}
	for i, r := range list {
		if r.State == report.ControllerRuns {
			if o.withRunning++; o.withRunning == 1 {
				o.firstRunning = i
			}
			continue
		}
		if o.withoutRunning++; o.withoutRunning == 1 {
			o.firstOther = i
		}
		o.othersGone = o.othersGone && r.State == report.ControllerGone
		o.othersPaused = o.othersPaused && r.State == report.ControllerPaused
	}
	return o
}

// releases returns the finalizers.
func (o *releaseSet) releases() []report.Release {
	if o == nil {
		return nil
	}
	return o.list
}

// onlyRunning returns the finalizers that have a running controller.
func (o *releaseSet) onlyRunning() *releaseSet {
	if o == nil || o.withoutRunning == 0 {
		return o
	}
	if o.runningOnly == nil {
		list := slices.DeleteFunc(slices.Clone(o.list), func(r report.Release) bool { return r.State != report.ControllerRuns })
		o.runningOnly = cmp.Or(newReleaseSet(list), noReleases)
	}
	return o.runningOnly
}

// messageSuffix returns the end of an effect's message: which finalizers must be removed first, and
// whether their controllers run. Without such finalizers, a write was refused, and recovery says
// when it will succeed.
func (o *releaseSet) messageSuffix(e *report.Effect, recovery string) string {
	if o == nil {
		o = noReleases
	}
	recovery = cmp.Or(recoveryFrom(reason.Code(e.Reason)), recovery)
	others := func() string { return releaseText(e.Object, o.list[o.firstOther], o.withoutRunning) }
	text := ""
	if e.AtOnce != "" && o.withRunning > 0 {
		text += ", once " + releaseText(e.Object, o.list[o.firstRunning], o.withRunning)
	}
	switch {
	case e.Later == "":
		return text
	case o.withoutRunning == 0 && e.Outcome == report.Kept && e.Later == report.Deleted && o.deployer != "":
		return text + "; is deleted with " + o.deployer
	case o.withoutRunning == 0 && e.Outcome == report.Kept && e.Later == report.Deleted:
		return text + "; is deleted once " + recovery
	case o.withoutRunning == 0 && e.Outcome == report.Kept && e.Later == report.Orphaned:
		return text + "; is orphaned once " + recovery
	case o.withoutRunning == 0 && e.Outcome == report.Kept:
		return text + "; changes once " + recovery
	case o.withoutRunning == 0:
		return text
	case e.Outcome == report.Blocked:
	case e.Later == report.Deleted:
		text += "; goes when " + others()
	case e.Later == report.Unknown:
		text += "; its outcome is unknown when " + others()
	case e.Later == report.Blocked:
		text += "; is deleted when " + others()
	default:
		text += "; changes when " + others()
	}
	switch {
	case e.Outcome == report.Blocked && e.Reason != string(reason.FinalizerRemains):
		return text
	case o.othersGone:
		return text + "; its controller is not running"
	case o.othersPaused && o.list[o.firstOther].Why != "":
		return text + "; " + o.list[o.firstOther].Why
	default:
		return text
	}
}

// recoveryFrom returns what must work again before an object that stays for a reason is deleted.
// Empty if that could be several things.
func recoveryFrom(why reason.Code) string {
	switch why {
	case reason.CollectorNotWorking, reason.DeletionMissed:
		return "the garbage collector works again"
	case reason.ControllerNotWorking:
		return "kube-controller-manager works again"
	case reason.PodNotFinished, reason.NodeNotReady:
		return "the kubelet of its node works again"
	case reason.WebhookUnreachable:
		return "the webhook answers"
	default:
		return ""
	}
}

// releaseText names the controller, the finalizer and the object of the first of several removals,
// and counts the rest. of is the object that the message is about.
func releaseText(of object.Ref, r report.Release, several int) string {
	text := r.Finalizer
	if r.Object != of {
		text += " of " + r.Object.ShortName()
	}
	if n := several - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	by, _ := RemovedBy(r.Finalizer, r.Object.Kind)
	switch {
	case r.State == report.ControllerRuns:
		return cmp.Or(r.Controller, "its controller") + " removes " + text
	case r.State != report.ControllerGone && by != "" && finalizer.DeployerOf(r.Object, r.Finalizer) != nil:
		return by + " removes " + text // a removal by hand deletes nothing
	}
	if several > 1 {
		return text + " are removed"
	}
	return text + " is removed"
}

// unionCache caches the unions of two sets.
type unionCache map[[2]*releaseSet]*releaseSet

// union returns the union of two sets, either of which may be nil.
func (j unionCache) union(a, b *releaseSet) *releaseSet {
	switch {
	case a == b || a == nil || b != nil && len(a.list) == 0:
		return b
	case b == nil || len(b.list) == 0:
		return a
	}
	both, known := j[[2]*releaseSet{a, b}]
	if !known {
		var u releaseSetBuilder
		u.addReleases(a.list)
		u.addReleases(b.list)
		both = newReleaseSet(u.list)
		j[[2]*releaseSet{a, b}] = both
	}
	return both
}

// releaseSetBuilder builds a set of finalizers without duplicates. A namespace may wait for
// thousands, so sets are shared: a single joined set is used as it is, and unions of two are
// cached.
type releaseSetBuilder struct {
	// sets contains the joined sets, as long as these are at most two.
	sets []*releaseSet
	list []report.Release
	// index contains the entries of list, if it is long.
	index map[report.Release]bool
}

// addSet adds a set.
func (u *releaseSetBuilder) addSet(o *releaseSet) {
	switch {
	case o == nil || slices.Contains(u.sets, o):
	case len(u.list) == 0 && len(u.sets) < 2:
		u.sets = append(u.sets, o)
	default:
		u.addReleases(o.list)
	}
}

// addReleases adds finalizers one by one. Sets that were joined before are copied into the list.
func (u *releaseSetBuilder) addReleases(more []report.Release) {
	if len(more) == 0 {
		return
	}
	parts := u.sets
	u.sets = nil
	for _, o := range parts {
		u.addReleases(o.list)
	}
	const short = 8
	if u.index == nil && len(u.list)+len(more) > short {
		u.index = make(map[report.Release]bool, len(u.list)+len(more))
		for _, r := range u.list {
			u.index[r] = true
		}
	}
	for _, r := range more {
		if u.index[r] || u.index == nil && slices.Contains(u.list, r) {
			continue
		}
		u.list = append(u.list, r)
		if u.index != nil {
			u.index[r] = true
		}
	}
}

func (u *releaseSetBuilder) isEmpty() bool { return len(u.sets)+len(u.list) == 0 }

// build returns the set.
func (u *releaseSetBuilder) build(j unionCache) *releaseSet {
	switch len(u.sets) {
	case 0:
		return newReleaseSet(u.list)
	case 1:
		return u.sets[0]
	default:
		return j.union(u.sets[0], u.sets[1])
	}
}

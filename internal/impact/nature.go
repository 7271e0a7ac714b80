package impact

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// nature is what decides about an object by itself. The rest are its owner, what is below it, and
// nothing else: of an object that has to do with others by their names there is none, unless
// these are below it.
type nature struct {
	kind      int
	namespace string
	// by is its reference, without a name and a uid.
	by         object.OwnerReference
	finalizers string
	protection object.Protection
	revision   uint32
	facts      facts
}

// facts are those of pods, claims, volumes and Jobs.
type facts struct {
	phase                           string
	grace                           int64
	mirror, scheduled, finished     bool
	csi, used, ephemeral            bool
	policy, provisioner, migratedTo string
	managedBy                       string
}

// folded are the kinds of Kubernetes of which it is known with whom they have to do. Custom
// resources have only owners, and Events only a namespace.
var folded = []object.Kind{
	object.Pod, object.PVC, object.PV, object.ConfigMap, object.Secret, object.ReplicationController,
	object.Deployment, object.ReplicaSet, object.DaemonSet, object.ControllerRevision, object.CronJob, object.Job,
}

func (m *Map) folds(of *object.Object) bool {
	r, err := m.snap.Resources.For(of.APIVersion, of.Kind)
	return err == nil && (r.Custom || r.Name == "events" && !m.snap.Resources.Monitored(r) || slices.ContainsFunc(folded, of.Is))
}

// naturesOf numbers the natures of the objects, from 1; 0 is that of those who have none.
func (p *Positions) naturesOf() []int32 {
	numbers := make([]int32, len(p.objects))
	known := map[nature]int32{}
	named := p.named()
	from, kind := 0, 0
	var before nature
	var number int32 // of that: siblings are together
	for same := range p.m.snap.ByKind() {
		kind++
		folds := p.m.folds(same[0])
		for j, o := range same {
			i := from + j
			if !folds || named[i] || !p.plain(i) {
				continue
			}
			n, ok := p.natureOf(i, o)
			if !ok {
				continue
			}
			if n.kind = kind; number == 0 || n != before {
				before, number = n, numberOf(known, n)
			}
			numbers[i] = number
		}
		from += len(same)
	}
	return numbers
}

// named are the objects that references of unsettled ones may mean: those look for others by
// name.
func (p *Positions) named() map[int]bool {
	named := map[int]bool{}
	for i, o := range p.objects {
		if p.settled[i] || len(o.Owners) == 0 {
			continue
		}
		for _, x := range p.m.owners(o) {
			named[p.Of(x)] = true
		}
	}
	return named
}

// plain reports whether an object has one owner at most, and nothing is open about it.
func (p *Positions) plain(i int) bool {
	o, id := p.objects[i], p.ids[i]
	switch {
	case !p.settled[i], len(o.Owners) > 1, o.GracePeriod() != nil, len(p.m.snap.Successors(o.Ref)) > 0:
		return false
	case len(p.m.asking) > 0 && len(p.m.asking[o.UID]) > 0:
		return false
	case p.m.outline.isLeaf(i):
		return true
	case id == 0:
		return len(o.Owners) == 0
	default:
		return !p.m.graph.Virtual(id)
	}
}

func (p *Positions) natureOf(i int, o *object.Object) (nature, bool) {
	n := nature{namespace: o.Namespace}
	if len(o.Owners) == 1 {
		n.by = o.Owners[0]
		n.by.Name, n.by.UID = "", ""
	}
	known := false
	switch life := o.Lifecycle; {
	case o.Is(object.Pod):
		n.facts, known = p.m.factsOfPod(o)
	case o.Is(object.PVC):
		n.facts, known = p.factsOfClaim(i, o)
	case o.Is(object.PV):
		n.facts, known = p.m.factsOfVolume(o)
	case o.Job() != nil:
		n.facts, known = facts{finished: o.Job().Finished, managedBy: o.Job().ManagedBy}, true
	default:
		known = life == nil || life.Facts == nil
	}
	if life := o.Lifecycle; known && life != nil {
		n.protection, n.revision = life.Protection, life.Revision
		if len(life.Finalizers) > 0 {
			n.finalizers = strings.Join(life.Finalizers, "\x00")
		}
	}
	return n, known
}

// factsOfPod are those of a pod that uses no claims but those it brings.
func (m *Map) factsOfPod(o *object.Object) (facts, bool) {
	pod := o.Pod()
	if hides(o) || len(m.uses().reserved[place{o.Namespace, o.Name}]) > 0 {
		return facts{}, false
	}
	for _, c := range pod.Claims {
		claim := m.uses().named[place{o.Namespace, c.Name}]
		if claim == nil || len(claim.Owners) != 1 || claim.Owners[0].UID != o.UID {
			return facts{}, false
		}
	}
	f := facts{phase: pod.Phase, grace: -1, mirror: pod.Mirror, scheduled: pod.NodeName != ""}
	if pod.TerminationGracePeriod != nil {
		f.grace = *pod.TerminationGracePeriod
	}
	return f, true
}

// factsOfClaim are those of a claim that a pod brings, and nobody else uses.
func (p *Positions) factsOfClaim(i int, o *object.Object) (facts, bool) {
	users, volumes, at := p.m.users(), p.m.uses().volumes, place{o.Namespace, o.Name}
	var pod *object.Object
	p.EachOwner(i, func(x int) { pod = p.objects[x] })
	if pod == nil || !pod.Is(object.Pod) || pod.Pod() == nil || len(users[hidden(o.Namespace)]) > 0 || len(volumes[at]) != len(p.m.followers[o]) {
		return facts{}, false
	}
	if slices.ContainsFunc(users[at], func(x *object.Object) bool { return x != pod }) {
		return facts{}, false
	}
	var f facts
	for _, c := range pod.Pod().Claims {
		if c.Name == o.Name {
			f.used, f.ephemeral = f.used || !c.Ephemeral, f.ephemeral || c.Ephemeral
		}
	}
	return f, true
}

// factsOfVolume are those of a volume that goes with its claim.
func (m *Map) factsOfVolume(o *object.Object) (facts, bool) {
	v, leaders := o.Volume(), m.leaders[o]
	if v == nil || len(o.Owners) > 0 || len(leaders) != 1 || leaders[0].UID != v.ClaimUID {
		return facts{}, false
	}
	return facts{phase: v.Phase, csi: v.CSI, policy: v.ReclaimPolicy, provisioner: v.Provisioner, migratedTo: v.MigratedTo}, true
}

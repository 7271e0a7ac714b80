package finalizer

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// World judges many objects of one snapshot. Its indexes are built on first use. It is not safe for
// concurrent use.
type World struct {
	snap *snapshot.Snapshot

	pods    *podsByClaim
	content map[string]*crowd
	kinds   map[schema.GroupKind]*crowd
}

// In returns a World that judges objects of a snapshot.
func In(snap *snapshot.Snapshot) *World { return &World{snap: snap} }

// Judge returns why the finalizers must not be removed from the object, without the refusals that
// allow lifts. Duplicate names count once.
func (w *World) Judge(o *object.Object, names []string, allow Allow) []Refusal {
	j := judgement{World: w, o: o, allow: allow}
	for _, name := range names {
		j.finalizer = name
		j.judge()
	}
	return j.refusals
}

// crowd counts objects and keeps the first few.
type crowd struct {
	first []object.Ref
	n     int
}

func (c *crowd) add(ref object.Ref) {
	if c.n++; len(c.first) < most {
		c.first = append(c.first, ref)
	}
}

// podsByClaim indexes the pods by the claims that they use, whether scheduled or finished or not.
type podsByClaim struct {
	users map[place]*crowd
	// hidden are the namespaces with pods that do not show their volumes.
	hidden map[string]bool
}

// place is the namespace and name of a claim.
type place struct{ namespace, name string }

func (w *World) podsByClaim() *podsByClaim {
	if w.pods != nil {
		return w.pods
	}
	w.pods = &podsByClaim{users: map[place]*crowd{}, hidden: map[string]bool{}}
	for _, o := range w.snap.Objects {
		if !o.Is(object.Pod) {
			continue
		}
		facts := o.Pod()
		if facts == nil || !facts.VolumesKnown {
			w.pods.hidden[o.Namespace] = true
			continue
		}
		counted := map[string]bool{}
		for _, c := range facts.Claims {
			if !counted[c.Name] {
				counted[c.Name] = true
				join(w.pods.users, place{o.Namespace, c.Name}, o.Ref)
			}
		}
	}
	return w.pods
}

// contentOf returns the objects in a namespace.
func (w *World) contentOf(namespace string) crowd {
	if w.content == nil {
		w.content = map[string]*crowd{}
		for _, o := range w.snap.Objects {
			join(w.content, o.Namespace, o.Ref)
		}
	}
	return at(w.content, namespace)
}

// instancesOf returns the objects of a kind.
func (w *World) instancesOf(k schema.GroupKind) crowd {
	if w.kinds == nil {
		w.kinds = map[schema.GroupKind]*crowd{}
		for _, o := range w.snap.Objects {
			join(w.kinds, o.GroupKind(), o.Ref)
		}
	}
	return at(w.kinds, k)
}

// join adds a reference to the crowd of a key.
func join[K comparable](crowds map[K]*crowd, k K, ref object.Ref) {
	if crowds[k] == nil {
		crowds[k] = &crowd{}
	}
	crowds[k].add(ref)
}

// at returns the crowd of a key; an empty one if it has none.
func at[K comparable](crowds map[K]*crowd, k K) crowd {
	if c := crowds[k]; c != nil {
		return crowd{slices.Clip(c.first), c.n}
	}
	return crowd{}
}

// Has reports whether the object has the finalizer. inSpec reports that it is in the spec of a
// namespace, which needs a separate request.
func Has(o *object.Object, name string) (has, inSpec bool) {
	if o.HasFinalizer(name) {
		return true, false
	}
	inSpec = o.Is(object.Namespace) && slices.Contains(o.NamespaceTokens(), name)
	return inSpec, inSpec
}

// judgement is the state of a call of Judge. finalizer is the one that is being judged.
type judgement struct {
	*World
	o         *object.Object
	allow     Allow
	finalizer string
	refusals  []Refusal
}

// refuse adds a refusal, unless the user has lifted it.
func (j *judgement) refuse(why reason.Code, lifted bool, lift string, because []object.Ref, detail string) {
	if !lifted {
		j.refusals = append(j.refusals, Refusal{j.o.Ref, j.finalizer, why, because, detail, lift})
	}
}

// most is the number of objects or gaps that a refusal names.
const most = 3

// instead says which finalizers the object has, for a refusal because it lacks one.
func (j *judgement) instead() string {
	has := slices.Clone(j.o.Finalizers())
	if j.o.Is(object.Namespace) {
		has = append(has, j.o.NamespaceTokens()...)
	}
	if len(has) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(has, ", ")
}

// judge adds the refusal to remove j.finalizer from the object, if there is one.
func (j *judgement) judge() {
	has, inSpec := Has(j.o, j.finalizer)
	switch {
	case !has:
		j.refuse(reason.FinalizerNotThere, false, "", nil, j.instead())
		return
	case !j.o.BeingDeleted():
		j.refuse(reason.NotBeingDeleted, false, "", nil, "")
		return
	case inSpec:
		j.content()
		return
	}
	switch ClassIn(j.finalizer, j.snap.Resources) {
	case Collector:
		k, _ := Of(j.finalizer)
		j.refuse(reason.CollectorFinalizer, j.allow.Collector, unlockCollector, nil, "without it "+k.Without)
	case Protection:
		j.consumers()
	case Cleanup:
		if j.o.Is(object.CRD) && j.finalizer == definitionCleanup {
			j.instances()
		}
	case Cloud:
		k, _ := Of(j.finalizer)
		j.refuse(reason.LeaksOutside, j.allow.Leak, unlockLeak, nil, k.Loss())
	case Operator, Unknown:
	}
}

// instances refuses the removal if the CRD has or may have custom resources.
func (j *judgement) instances() {
	unknown := func(detail string) {
		j.refuse(reason.InstancesUnknown, j.allow.Cleanup, unlockCleanup, nil, detail)
	}
	d := j.o.Definition()
	if d == nil {
		unknown("what the CRD defines is not shown")
		return
	}
	if there := j.instancesOf(schema.GroupKind{Group: d.Group, Kind: d.Kind}); there.n > 0 {
		j.refuse(reason.InstancesExist, j.allow.Cleanup, unlockCleanup, there.first, counted(there.n))
		return
	}
	for _, r := range j.snap.Resources.All() {
		if r.Group != d.Group || r.Name != d.Plural {
			continue
		}
		if !j.snap.Covers(r, "") {
			unknown(j.snap.Why(r, ""))
		}
		return
	}
	unknown("no path for them is served")
}

// content refuses the removal if the namespace has or may have content. It counts as empty only if
// every kind that could be in it was listed and discovery is complete, since remaining objects
// would become unreachable.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go namespacedResourcesDeleter.Delete:
// deletes all content before it finalizes.
func (j *judgement) content() {
	if there := j.contentOf(j.o.Name); there.n > 0 {
		j.refuse(reason.NamespaceNotEmpty, j.allow.Namespace, unlockNamespace, there.first, counted(there.n))
		return
	}
	var gaps []string
	if !j.snap.KnowsAllKinds() {
		gaps = append(gaps, "not all kinds that the server serves are known")
	}
	for _, r := range j.snap.Resources.All() {
		if p, ok := j.snap.Resources.Preferred(r.GroupResource()); !r.Namespaced || !r.Verbs.Has(object.Delete) || !ok || p.Version != r.Version {
			continue
		}
		if !j.snap.Covers(r, j.o.Name) {
			gaps = append(gaps, r.GroupResource().String()+": "+j.snap.Why(r, j.o.Name))
		}
	}
	if len(gaps) > 0 {
		detail := strings.Join(gaps[:min(len(gaps), most)], "; ")
		if left := len(gaps) - most; left > 0 {
			detail += fmt.Sprintf("; and %d more", left)
		}
		j.refuse(reason.NamespaceContentUnknown, j.allow.Namespace, unlockNamespace, nil, detail)
	}
}

// counted returns the total if not all objects are named.
func counted(n int) string {
	if n <= most {
		return ""
	}
	return fmt.Sprintf("%d in all", n)
}

// consumers refuses the removal of a protection finalizer if the object has or may have users.
func (j *judgement) consumers() {
	var users crowd
	unseen := "what uses it is not among what is looked at"
	switch {
	case j.finalizer == claimProtection && j.o.Is(object.PVC):
		users, unseen = j.podsOfClaim()
	case j.finalizer == volumeProtection && j.o.Is(object.PV):
		users, unseen = j.claimOfVolume()
	case j.finalizer == jobTracking && j.o.Is(object.Pod):
		users, unseen = j.jobOfPod()
	}
	switch {
	case users.n > 0:
		j.refuse(reason.ConsumerExists, j.allow.Protection, unlockProtection, users.first, counted(users.n))
	case unseen != "":
		j.refuse(reason.ConsumerUnknown, j.allow.Protection, unlockProtection, nil, unseen)
	}
}

// podsOfClaim returns the pods that use a claim, whether scheduled or finished or not, and why
// there may be others. The protection controller is less strict: it ignores unscheduled pods.
func (j *judgement) podsOfClaim() (users crowd, unseen string) {
	pods := j.podsByClaim()
	switch {
	case !j.snap.Covers(object.Pod.Resource(), j.o.Namespace):
		unseen = j.snap.Why(object.Pod.Resource(), j.o.Namespace)
	case pods.hidden[j.o.Namespace]:
		unseen = "not all pods show their volumes"
	}
	return at(pods.users, place{j.o.Namespace, j.o.Name}), unseen
}

// claimOfVolume returns the claim that a volume is bound to.
func (j *judgement) claimOfVolume() (users crowd, unseen string) {
	v := j.o.Volume()
	if v == nil || v.Phase == "" {
		return users, "its phase is not shown"
	}
	if v.ClaimName == "" {
		if v.Bound() {
			return users, "its PVC is not shown"
		}
		return users, ""
	}
	if o := j.snap.FindKind(object.PVC, v.ClaimNamespace, v.ClaimName); o != nil && (v.ClaimUID == "" || o.UID == v.ClaimUID) {
		users.add(o.Ref)
		return users, ""
	}
	return users, j.snap.Why(object.PVC.Resource(), v.ClaimNamespace)
}

// jobOfPod returns the Job that has not counted a pod yet.
func (j *judgement) jobOfPod() (users crowd, unseen string) {
	ref, controlled := j.o.Controller()
	switch {
	case !controlled:
		return users, ""
	case !ref.Is(object.Job):
		return users, "its controller is no Job of Kubernetes"
	}
	o := j.snap.FindKind(object.Job, j.o.Namespace, ref.Name)
	if o == nil || o.UID != ref.UID {
		return users, j.snap.Why(object.Job.Resource(), j.o.Namespace)
	}
	switch facts := o.Job(); {
	case o.BeingDeleted(), facts != nil && facts.Finished && !facts.Elsewhere():
		return users, ""
	case facts == nil:
		return users, "whether its Job is finished is not shown"
	}
	users.add(o.Ref)
	return users, ""
}

// ListRequest names lists to read again before a new judgement. Kinds are in the form
// resource.group; without any, everything in the namespace is read. An empty Namespace means all
// namespaces.
type ListRequest struct {
	Kinds     []string
	Namespace string
}

// ListRequests returns the lists that the judgement of an object's finalizers depends on, in
// addition to the object itself. They must be read again before a write: since the plan, a pod may
// use the claim.
func ListRequests(o *object.Object, names []string) []ListRequest {
	var requests []ListRequest
	for _, name := range names {
		switch _, inSpec := Has(o, name); {
		case inSpec:
			requests = append(requests, ListRequest{Namespace: o.Name})
		case name == definitionCleanup && o.Definition() != nil:
			requests = append(requests, ListRequest{Kinds: []string{o.Definition().Plural + "." + o.Definition().Group}})
		case name == claimProtection:
			requests = append(requests, ListRequest{Kinds: []string{"pods"}, Namespace: o.Namespace})
		case name == volumeProtection:
			requests = append(requests, ListRequest{Kinds: []string{"persistentvolumeclaims"}})
		case name == jobTracking:
			requests = append(requests, ListRequest{Kinds: []string{"jobs.batch"}, Namespace: o.Namespace})
		}
	}
	return requests
}

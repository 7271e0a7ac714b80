package deleters

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// waitState is the state of the controllers after a pass without changes.
type waitState struct {
	// generation is the store's generation that they have seen; 0 before the first pass.
	generation uint64
	// waits is what they wait for; open are the waits that a later pass may end.
	waits, open []controllers.Wait
	// due is when the grace period of the next pod ends; zero for none.
	due time.Time
}

// The shortest and longest pause before refused requests are retried.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// runControllers runs the controllers after every change.
func (d *Deleters) runControllers(w *world) {
	select {
	case <-d.feed.Synced():
	case <-d.ctx.Done():
		return
	}
	retry := firstRetry
	for {
		generation, changed := d.store.now()
		w.generation = generation
		acted, err := controllers.Step(d.ctx, w, w.send, d.list, nil)
		if err != nil {
			return
		}
		if acted != nil {
			continue
		}
		s := d.recordWaits(generation)
		var again <-chan time.Time
		switch {
		case len(s.open) > 0:
			again = time.After(retry)
			retry = min(2*retry, lastRetry)
		case !s.due.IsZero():
			again = time.After(max(time.Until(s.due), firstRetry))
		default:
			retry = firstRetry
		}
		select {
		case <-changed:
		case <-again:
		case <-d.ctx.Done():
			return
		}
	}
}

// recordWaits records and returns what the controllers wait for.
func (d *Deleters) recordWaits(generation uint64) waitState {
	s := waitState{generation: generation, waits: controllers.Waiting(d.list)}
	for _, wait := range s.waits {
		switch wait.Reason {
		case controllers.Refused, controllers.NotCovered, controllers.DiscoveryFails, controllers.NotServed:
			s.open = append(s.open, wait)
		default:
		}
	}
	if d.pods != nil {
		s.due = d.pods.due
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = s
	return s
}

// lastWaits returns the last state of the controllers.
func (d *Deleters) lastWaits() waitState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting
}

// kindsMayHaveChanged signals that the served kinds may have changed.
func (d *Deleters) kindsMayHaveChanged() {
	select {
	case d.definitions <- struct{}{}:
	default:
	}
}

// The shortest and longest pause between two discoveries while the served kinds are changing.
const (
	firstDiscoveryPause = 10 * time.Millisecond
	lastDiscoveryPause  = time.Second
	// minDiscoveries is the minimum number of discoveries after a change: an APIService does not
	// say which resources will be served.
	minDiscoveries = 4
)

// followKinds repeats discovery after a change of a CRD or an APIService until everything expected
// is served.
func (d *Deleters) followKinds() {
	var again <-chan time.Time
	pause, n := firstDiscoveryPause, 0
	for {
		select {
		case <-d.definitions:
			pause, n = firstDiscoveryPause, 0
		case <-again:
		case <-d.ctx.Done():
			return
		}
		again = nil
		// A kind that cannot be read is perhaps no longer served.
		broken := func(k kube.KindState) bool { return k.State == kube.Broken }
		if n++; n > minDiscoveries && len(d.expectedResources()) == 0 && !slices.ContainsFunc(d.feed.Kinds(), broken) {
			continue
		}
		d.feed.Rediscover()
		again = time.After(pause)
		pause = min(2*pause, lastDiscoveryPause)
	}
}

// expectedResources returns the resources of established CRDs that are not followed yet.
func (d *Deleters) expectedResources() []string {
	followed := object.SetOf(d.feed.Kinds(), func(k kube.KindState) string { return k.Resource.GroupResource().String() })
	served := func(v object.CRDVersion) bool { return v.Served }
	var list []string
	for _, o := range d.store.list(object.CRD.GroupResource(), "", everything) {
		if f := o.Definition(); f != nil && f.Established && !followed[o.Name] && slices.ContainsFunc(f.Versions, served) {
			list = append(list, o.Name)
		}
	}
	return list
}

// deletingCRDs reports the CRDs whose instances the API server is deleting, unless all remaining
// instances wait for finalizers.
func (d *Deleters) deletingCRDs() []string {
	deleting := func(o *object.Object) bool {
		return o.BeingDeleted() && o.HasFinalizer(controllers.DefinitionCleanup)
	}
	var list []string
	for _, o := range d.store.list(object.CRD.GroupResource(), "", deleting) {
		instances := d.store.list(schema.ParseGroupResource(o.Name), "", everything)
		free := func(i *object.Object) bool { return !i.BeingDeleted() || len(i.Finalizers()) == 0 }
		if len(instances) == 0 || slices.ContainsFunc(instances, free) {
			list = append(list, "the API server deletes the instances of "+o.Ref.String())
		}
	}
	return list
}

// Pods says how a deleted pod on a node ends without a kubelet.
type Pods uint8

// The values of Pods.
const (
	// AtOnce: pods end when they are deleted.
	AtOnce Pods = iota
	// AfterGracePeriod: pods end after their grace period.
	AfterGracePeriod
	// Never: pods stay until a client deletes them with a grace period of 0.
	Never
	// AfterDuration: pods end Options.PodsAfter after their deletion was seen.
	AfterDuration
)

// kubelets simulates the kubelets of all nodes, whether or not the nodes exist.
type kubelets struct {
	controllers.Controller
	graceful bool
	// after is how long deleted pods last; 0 for no time of our own. seen is when the deletion of each
	// of them was seen.
	after time.Duration
	seen  map[types.UID]time.Time
	// real is true if the cluster has kubelets, which end the pods.
	real bool
	// due is when the next pod ends; zero for none.
	due time.Time
}

// Step ends the pods whose grace period is over.
func (k *kubelets) Step(ctx context.Context, w controllers.World, send controllers.Send) (bool, error) {
	k.due = time.Time{}
	if k.real { // they end the pods
		send = func(context.Context, controllers.Intent) (*object.Object, error) { return nil, errKubelet }
	}
	return k.Controller.Step(ctx, kubeletWorld{World: w, kubelets: k, now: time.Now()}, send)
}

// kubeletWorld is the world as kubelets see it at one moment: no node is missing, and pods within
// their grace period are hidden.
type kubeletWorld struct {
	controllers.World
	kubelets *kubelets
	now      time.Time
}

// ObjectsOf returns the visible objects of one resource.
func (s kubeletWorld) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	if gr == object.Node.GroupResource() {
		return nil
	}
	all := s.World.ObjectsOf(gr, namespace)
	if gr != object.Pod.GroupResource() || !s.kubelets.graceful && s.kubelets.after == 0 {
		return all
	}
	var list []*object.Object
	for _, pod := range all {
		if ends := s.kubelets.endOf(pod, s.now); pod.BeingDeleted() && ends.After(s.now) {
			if s.kubelets.due.IsZero() || ends.Before(s.kubelets.due) {
				s.kubelets.due = ends
			}
			continue
		}
		list = append(list, pod)
	}
	return list
}

// endOf returns when a deleted pod ends.
func (k *kubelets) endOf(pod *object.Object, now time.Time) time.Time {
	if k.after == 0 {
		return gracePeriodEnd(pod)
	}
	if _, seen := k.seen[pod.UID]; !seen && pod.BeingDeleted() {
		if k.seen == nil || len(k.seen) >= maxGone {
			k.seen = map[types.UID]time.Time{}
		}
		k.seen[pod.UID] = now
	}
	return k.seen[pod.UID].Add(k.after)
}

// podEnds says when the next pod ends.
func (d *Deleters) podEnds(at time.Time) string {
	if d.options.Pods == AfterDuration {
		return "a pod ends at " + at.UTC().Format("15:04:05.000") + ", " + d.options.PodsAfter.String() + " after it was deleted"
	}
	return "a pod ends at " + at.UTC().Format(time.RFC3339) + ", when its grace period is over"
}

// gracePeriodEnd returns when the grace period of a deleted pod is over. It adds a second, because
// the server truncates fractions.
func gracePeriodEnd(pod *object.Object) time.Time { return time.Unix(pod.DeletionTimestamp()+1, 0) }

package apisim

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// defaultGrace is the grace period of a pod without one, in seconds. A server fills it in whenever
// it reads a pod.
//
// Upstream: pkg/apis/core/v1/defaults.go SetDefaults_PodSpec.
const defaultGrace int64 = 30

// grace is whether a delete waits for a grace period, as its pre-flight decides.
type grace uint8

const (
	// atOnce: the object has no grace period, or it has expired.
	atOnce grace = iota
	// pending: a grace period is running and the request does not shorten it.
	pending
	// graceful: a grace period starts or becomes shorter.
	graceful
)

// preflight decides whether a delete waits for a grace period. For graceful, next is a clone with
// its new deletion timestamp in the draft, and left is the requested grace period in seconds.
//
// Upstream: apiserver/pkg/registry/rest/delete.go BeforeDelete.
// Rule: spec §2.6 D3, S050–S069.
func (s *Server) preflight(v *view, o *object.Object, opts metav1.DeleteOptions) (how grace, next *object.Object, left int64) {
	if v.gr != object.Pod.GroupResource() {
		return atOnce, nil, 0
	}
	asked := opts.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	if !o.BeingDeleted() {
		left = podPeriod(o, asked)
		next = o.Clone()
		life := s.draft.of(next)
		life.DeletionTimestamp = s.now + left
		life.GracePeriod = s.draft.seconds(left)
		if next.Generation > 0 {
			next.Generation++
		}
		return graceful, next, left
	}
	running := int64(0)
	if p := o.GracePeriod(); p != nil {
		running = *p
	}
	if running < 0 {
		running = 1
	}
	switch {
	case running == 0:
		return atOnce, nil, 0
	case asked == nil || *asked >= running:
		return pending, nil, 0
	}
	return graceful, s.shorten(o, running, *asked), *asked
}

// shorten sets the deletion timestamp that the shorter period would have given from the start, but
// never one in the past: with 30 s at 12:00:00, a request for 5 s at 12:00:10 gives 12:00:10 and a
// period of 1 s. Older releases allow 12:00:05. The current second counts as past, because the
// server's clock is finer than timestamps.
func (s *Server) shorten(o *object.Object, running, asked int64) *object.Object {
	next := o.Clone()
	life := s.draft.of(next)
	period := asked
	life.DeletionTimestamp += asked - running
	if life.DeletionTimestamp <= s.now && s.rules.Follow(release.GraceEndsNow) {
		life.DeletionTimestamp = s.now
		if asked != 0 {
			period = 1
		}
	}
	life.GracePeriod = s.draft.seconds(period)
	return next
}

// podPeriod returns the grace period, in seconds, of a pod at the start of its deletion.
//
// Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete.
// Rule: spec §2.9.
func podPeriod(o *object.Object, asked *int64) int64 {
	facts := o.Pod()
	period := defaultGrace
	switch {
	case asked != nil:
		period = *asked
	case facts != nil && facts.TerminationGracePeriod != nil:
		period = *facts.TerminationGracePeriod
	}
	if facts != nil && (facts.NodeName == "" || facts.Finished()) {
		return 0
	}
	if period < 0 {
		return 1
	}
	return period
}

// markDeleting returns a copy of the object that is being deleted and waits for the finalizers.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go markAsDeleting.
// Rule: spec §2.6 D6.3, S021.
func markDeleting(o *object.Object, finalizers []string, now int64) *object.Object {
	next := o.Clone()
	life := next.Edit()
	if life.DeletionTimestamp == 0 && next.Generation > 0 {
		next.Generation++
	}
	if life.DeletionTimestamp == 0 || life.DeletionTimestamp > now {
		life.DeletionTimestamp = now
	}
	life.GracePeriod = new(int64)
	life.Finalizers = finalizers
	return next
}

// draft is the Lifecycle that a graceful delete builds, with the grace period that it points to. A
// server has only one, which each delete reuses, to save allocations.
type draft struct {
	object.Lifecycle
	grace int64
}

// of copies the Lifecycle of o into the draft, points o to the draft and returns it for writing. o
// must be a clone.
func (d *draft) of(o *object.Object) *object.Lifecycle {
	d.Lifecycle = object.Lifecycle{}
	if o.Lifecycle != nil {
		d.Lifecycle = *o.Lifecycle
	}
	o.Lifecycle = &d.Lifecycle
	return o.Lifecycle
}

// seconds stores a grace period in the draft and returns a pointer to it.
func (d *draft) seconds(n int64) *int64 {
	d.grace = n
	return &d.grace
}

// ending identifies the Lifecycle that results if the old Lifecycle of gets the deletion timestamp
// at and a grace period. Millions of siblings can share one Lifecycle. After a graceful delete of
// all, they share the resulting one.
type ending struct {
	of        *object.Lifecycle
	at, grace int64
}

// mostEndings is the size at which the map of endings is cleared.
const mostEndings = 4096

// keepDraft gives next a Lifecycle with the content of the draft: a shared one if old's finalizers
// are unchanged.
func (s *Server) keepDraft(old, next *object.Object) {
	d := &s.draft
	this := ending{of: old.Lifecycle, at: d.DeletionTimestamp, grace: d.grace}
	shared := sameList(d.Finalizers, old.Finalizers())
	if shared && s.endings[this] != nil {
		next.Lifecycle = s.endings[this]
		return
	}
	kept := *d
	kept.GracePeriod = &kept.grace
	next.Lifecycle = &kept.Lifecycle
	if !shared {
		return
	}
	if len(s.endings) == mostEndings || s.endings == nil {
		s.endings = map[ending]*object.Lifecycle{}
	}
	s.endings[this] = next.Lifecycle
}

// sameList reports whether two slices share their elements in memory.
func sameList(a, b []string) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

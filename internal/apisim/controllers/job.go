package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// JobName names the controller that counts the pods of Jobs.
const JobName = "job-controller"

// JobFinalizer is on pods that the Job controller must still count.
const JobFinalizer = "batch.kubernetes.io/job-tracking"

// JobTracking returns the part of the Job controller that removes its finalizer from pods: those
// without a controller, those of a Job that is deleted, being deleted or finished, those that are
// finished, and those that are being deleted, which count as failed. It ignores pods of other
// controllers and of Jobs with another managedBy.
//
// A pod that is being deleted counts at once only without a pod failure policy. With one it counts
// when its containers have stopped, which is still before the pod is gone.
//
// The finalizer stays on a pod while the manager of its Job is unknown.
//
// Upstream: pkg/controller/job/job_controller.go syncOrphanPod, canRemoveFinalizer.
// Rule: spec §7.1, S139, S238, S239.
func JobTracking(c Coverage) Releaser {
	return &jobs{coverage: c, seen: map[types.UID]bool{}, releasing: releasing{
		identity:  identity{name: JobName, assumption: "the Job controller runs and removes its finalizer from pods that it has counted or whose Job is gone"},
		finalizer: JobFinalizer,
	}}
}

type jobs struct {
	releasing

	coverage Coverage
	// seen are the Jobs that existed in an earlier pass. If one is missing later, it was deleted,
	// whatever the snapshot covers.
	seen map[types.UID]bool
}

// Step releases the pods that the Job controller doesn't need to count any more.
func (j *jobs) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := j.begin(ctx, w, send)
	var there map[types.UID]*object.Object
	for _, pod := range objectsThat(w, object.Pod.GroupResource(), func(o *object.Object) bool { return o.HasFinalizer(JobFinalizer) }) {
		if ctx.Err() != nil {
			break
		}
		if there == nil {
			there = j.look(w)
		}
		if j.counted(p, pod, there) {
			change := object.Patch{Type: object.StrategicMerge, DeleteFinalizers: []string{JobFinalizer}}
			_, err := send(ctx, Intent{Verb: Patch, For: pod.Ref, Ref: pod.Ref, Patch: change})
			p.refused(pod.Ref, object.Pod.Resource(), err)
		}
	}
	return p.end()
}

// look returns the existing Jobs by UID and records them as seen.
func (j *jobs) look(w World) map[types.UID]*object.Object {
	there := map[types.UID]*object.Object{}
	for _, job := range w.ObjectsOf(object.Job.GroupResource(), "") {
		there[job.UID], j.seen[job.UID] = job, true
	}
	return there
}

// counted reports whether the finalizer can be removed from the pod. If not, it records a wait for
// a pod that is being deleted.
func (j *jobs) counted(p *pass, pod *object.Object, there map[types.UID]*object.Object) bool {
	wait := func(w Wait) bool {
		if pod.BeingDeleted() {
			w.Object = pod.Ref
			p.wait(w)
		}
		return false
	}
	ref, controlled := pod.Controller()
	switch {
	case !controlled:
		return true
	case ref.Kind != object.Job.Kind || ref.APIVersion != object.Job.APIVersion():
		return wait(Wait{Reason: ManagedElsewhere, Why: "the Job controller leaves it alone: its controller is no Job of " + object.Job.APIVersion()})
	}
	job := there[ref.UID]
	if job == nil {
		if j.seen[ref.UID] {
			return true
		}
		why := j.coverage.Why(object.Job.Resource(), pod.Namespace)
		if j.coverage.Covers(object.Job.Resource(), pod.Namespace) {
			why = momentsOf(j.coverage).Unseen(object.Job, ref.In(pod.Namespace), pod.Created)
		}
		return why == "" || wait(Wait{Reason: NotCovered, Resource: object.Job.Resource(), Why: why})
	}
	facts := job.Job()
	switch {
	case facts == nil:
		return wait(Wait{Reason: NotShown, Why: "who manages Job " + job.Name + " is not in the snapshot"})
	case facts.Elsewhere():
		return wait(Wait{Reason: ManagedElsewhere, Why: "the Job controller leaves it alone: " + facts.ManagedBy + " manages Job " + job.Name})
	}
	ended := pod.Pod() != nil && pod.Pod().Finished()
	return ended || facts.Finished || pod.BeingDeleted() || job.BeingDeleted()
}

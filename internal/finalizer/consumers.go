package finalizer

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// consumers asks who uses an object that a finalizer protects.
func (j *judgement) consumers() {
	var users []object.Ref
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
	case len(users) > 0:
		j.refuse(reason.ConsumerExists, j.allow.Protection, UnlockProtection, users, counted(len(users)))
	case unseen != "":
		j.refuse(reason.ConsumerUnknown, j.allow.Protection, UnlockProtection, nil, unseen)
	}
}

// podsOfClaim are the pods that use a claim, on a node or not, finished or not: the
// controller that protects claims lets go of some of them, and would have.
func (j *judgement) podsOfClaim() (users []object.Ref, unseen string) {
	hidden := false
	for _, o := range j.snap.Objects {
		if !o.Is(object.Pod) || o.Namespace != j.o.Namespace {
			continue
		}
		facts := o.Pod()
		if facts == nil || !facts.VolumesKnown {
			hidden = true
			continue
		}
		for _, c := range facts.Claims {
			if c.Name == j.o.Name {
				users = append(users, o.Ref)
				break
			}
		}
	}
	switch {
	case !j.snap.Covers(object.Pod.Resource(), j.o.Namespace):
		unseen = j.snap.Why(object.Pod.Resource(), j.o.Namespace)
	case hidden:
		unseen = "not all pods show their volumes"
	}
	return users, unseen
}

// claimOfVolume is the claim that a volume is bound to.
func (j *judgement) claimOfVolume() (users []object.Ref, unseen string) {
	v := j.o.Volume()
	if v == nil || v.Phase == "" {
		return nil, "its phase is not shown"
	}
	if v.ClaimName == "" {
		if v.Bound() {
			return nil, "its PVC is not shown"
		}
		return nil, ""
	}
	for _, o := range j.snap.Objects {
		if o.Is(object.PVC) && o.Namespace == v.ClaimNamespace && o.Name == v.ClaimName &&
			(v.ClaimUID == "" || o.UID == v.ClaimUID) {
			return []object.Ref{o.Ref}, ""
		}
	}
	return nil, j.snap.Why(object.PVC.Resource(), v.ClaimNamespace)
}

// jobOfPod is the Job that has yet to count a pod.
func (j *judgement) jobOfPod() (users []object.Ref, unseen string) {
	ref, controlled := j.o.Controller()
	switch {
	case !controlled:
		return nil, ""
	case !ref.Is(object.Job):
		return nil, "its controller is no Job of Kubernetes"
	}
	for _, o := range j.snap.Objects {
		if o.UID != ref.UID || !o.Is(object.Job) {
			continue
		}
		facts := o.Job()
		switch {
		case o.BeingDeleted(), facts != nil && facts.Finished && !facts.Elsewhere():
			return nil, ""
		case facts == nil:
			return nil, "whether its Job is finished is not shown"
		}
		return []object.Ref{o.Ref}, ""
	}
	return nil, j.snap.Why(object.Job.Resource(), j.o.Namespace)
}

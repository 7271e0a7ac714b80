package finalizer

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// consumers looks for users of an object that a finalizer protects.
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

// podsOfClaim returns the pods that use a claim, whether scheduled or finished or not. For some of
// them, the protection controller would have removed the finalizer itself.
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
	if o := j.claim(place{v.ClaimNamespace, v.ClaimName}, v.ClaimUID); o != nil {
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
	o := j.job(ref.UID)
	if o == nil {
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

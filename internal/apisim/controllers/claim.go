package controllers

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// claimProtectionName names the controller that protects claims in use.
const claimProtectionName = "pvc-protection-controller"

// claimProtectionAssumption must hold for the deletion of a claim.
const claimProtectionAssumption = "the PVC protection controller runs, and no other pod starts to use the PVC"

const claimProtection = "kubernetes.io/pvc-protection"

// ClaimProtection returns the controller that removes its finalizer from a claim that is being
// deleted, once no scheduled pod uses the claim. A finished pod still uses it; an unscheduled one
// doesn't. The claim of an ephemeral volume is used by the pod that controls it, until that pod is
// shut down.
//
// The finalizer stays if the snapshot may lack such a pod: the pods of the namespace are not
// covered, or one lacks its volumes. A nil coverage means that the snapshot is complete.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go podUsesPVCForDeletion.
// Rule: spec §7.1, S230–S232.
func ClaimProtection(c Coverage) Releaser { return &claims{coverage: orComplete(c)} }

type claims struct {
	coverage Coverage
	waits    []Wait
}

func (*claims) Name() string       { return claimProtectionName }
func (*claims) Finalizer() string  { return claimProtection }
func (*claims) Assumption() string { return claimProtectionAssumption }
func (c *claims) Waiting() []Wait  { return c.waits }

// Step releases the claims that no pod uses.
func (c *claims) Step(ctx context.Context, w World) (bool, error) {
	p := beginHolding(ctx, w, c)
	var in *mounts
	for _, claim := range objectsThat(w, object.PVC.GroupResource(), held(claimProtection)) {
		if ctx.Err() != nil {
			break
		}
		if in == nil || in.namespace != claim.Namespace {
			in = mountsIn(w, claim.Namespace)
		}
		if users := in.users(claim); len(users) > 0 {
			p.wait(remaining(claim.Ref, ClaimInUse, object.Pod.Resource(), users))
			continue
		}
		if len(in.hidden) > 0 {
			p.wait(Wait{Object: claim.Ref, Reason: NotShown, Resource: object.Pod.Resource(), Why: "do not all show their volumes: " + few(in.hidden)})
			continue
		}
		if !p.uncovered(c.coverage, claim.Ref, object.Pod.Resource(), claim.Namespace) {
			p.release(claim)
		}
	}
	return p.end(&c.waits)
}

// mounts holds the pods of a namespace by the claims that they use.
type mounts struct {
	namespace string
	byClaim   map[string][]mount
	// hidden are the pods with unknown volumes.
	hidden []*object.Object
}

// mount is one volume of a pod on a node.
type mount struct {
	pod       *object.Object
	ephemeral bool
}

func mountsIn(w World, namespace string) *mounts {
	m := &mounts{namespace: namespace, byClaim: map[string][]mount{}}
	for _, pod := range objectsIn(w, object.Pod.GroupResource(), namespace, mayMount) {
		facts := pod.Pod()
		if facts == nil || !facts.VolumesKnown {
			m.hidden = append(m.hidden, pod)
			continue
		}
		for _, claim := range facts.Claims {
			m.byClaim[claim.Name] = append(m.byClaim[claim.Name], mount{pod, claim.Ephemeral})
		}
	}
	return m
}

// mayMount reports whether a pod is or may be on a node and use a claim.
func mayMount(pod *object.Object) bool {
	facts := pod.Pod()
	return facts == nil || !facts.VolumesKnown || facts.NodeName != "" && len(facts.Claims) > 0
}

// users returns the pods that use the claim.
func (m *mounts) users(claim *object.Object) []*object.Object {
	var list []*object.Object
	for _, x := range m.byClaim[claim.Name] {
		again := len(list) > 0 && list[len(list)-1] == x.pod // the mounts of one pod are adjacent
		if again || x.ephemeral && (shutDown(x.pod) || !controls(x.pod, claim)) {
			continue
		}
		list = append(list, x.pod)
	}
	return list
}

// shutDown reports whether a pod is being deleted with no grace period left: its kubelet finished
// it, or was bypassed.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go podIsShutDown.
func shutDown(pod *object.Object) bool {
	grace := pod.GracePeriod()
	return pod.BeingDeleted() && grace != nil && *grace == 0
}

func controls(owner, o *object.Object) bool {
	ref, ok := o.Controller()
	return ok && ref.UID == owner.UID
}

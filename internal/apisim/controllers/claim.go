package controllers

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// claimProtectionName is the name of the controller that protects claims in use.
const claimProtectionName = "pvc-protection-controller"

// claimProtectionAssumption is what the end of a claim rests on.
const claimProtectionAssumption = "the PVC protection controller runs, and no other pod starts to use the PVC"

const claimProtection = "kubernetes.io/pvc-protection"

// ClaimProtection returns the controller that takes its finalizer off a claim
// which is being deleted, as soon as no pod on a node uses the claim. A pod that
// has run to its end still uses it; one that was never scheduled does not. The
// claim of an ephemeral volume is used by the pod that controls it, until that is
// shut down.
//
// The finalizer stays as long as the snapshot leaves open whether such a pod is
// there: the pods of the namespace are not covered, or one is shown without its
// volumes. A nil coverage stands for a world that is complete.
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

// Step releases the claims that nobody uses.
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

// mounts are the pods of a namespace by the claims that they use.
type mounts struct {
	namespace string
	byClaim   map[string][]mount
	// hidden are the pods of which it is not known what they use.
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

// mayMount reports whether a pod is on a node and uses a claim, as far as is known.
func mayMount(pod *object.Object) bool {
	facts := pod.Pod()
	return facts == nil || !facts.VolumesKnown || facts.NodeName != "" && len(facts.Claims) > 0
}

// users are the pods that use the claim.
func (m *mounts) users(claim *object.Object) []*object.Object {
	var list []*object.Object
	for _, x := range m.byClaim[claim.Name] {
		again := len(list) > 0 && list[len(list)-1] == x.pod // its mounts follow one another
		if again || x.ephemeral && (shutDown(x.pod) || !controls(x.pod, claim)) {
			continue
		}
		list = append(list, x.pod)
	}
	return list
}

// shutDown reports whether the kubelet is done with a pod, or was passed by.
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

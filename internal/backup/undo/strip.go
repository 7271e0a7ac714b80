package undo

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// serverFields are what the server writes into metadata, for every kind.
//
// Upstream: apiserver/pkg/registry/rest/create.go BeforeCreate: overwrites or refuses them.
var serverFields = []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"generation", "managedFields", "selfLink", "ownerReferences"}

// accountAnnotation names the ServiceAccount of a token.
//
// Upstream: api/core/v1/types.go ServiceAccountNameKey.
const accountAnnotation = "kubernetes.io/service-account.name"

// strip takes out of the content what a new object must not have.
func (n *node) strip(p *planning) {
	if textAt(n.content, "metadata", "deletionTimestamp") != "" {
		n.step.Notes = append(n.step.Notes, reason.WasBeingDeleted)
	}
	for _, field := range serverFields {
		remove(n.content, "metadata", field)
	}
	n.stripStatus(p)
	n.stripFinalizers()
	n.stripKind()
	if n.Object.Is(object.PVC) {
		n.noteVolume(p)
	}
}

// stripKind takes out what a new object of this kind must not have.
func (n *node) stripKind() {
	switch {
	case n.Object.Is(object.Pod):
		n.drop("spec", "nodeName")            // the scheduler finds a node, which the old one may not be
		n.drop("spec", "ephemeralContainers") // refused at creation
	case n.Object.Is(object.PVC):
		for _, a := range bindingMarks {
			n.drop("metadata", "annotations", a)
		}
	case n.Object.Is(object.PV):
		// The volume stays reserved for the claim of that name, whatever its UID.
		n.drop("spec", "claimRef", "uid")
		n.drop("spec", "claimRef", "resourceVersion")
		n.drop("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	case n.Object.Is(object.Job):
		n.stripJob()
	case isToken(n):
		// The UID of another ServiceAccount would have the Secret deleted.
		n.drop("metadata", "annotations", "kubernetes.io/service-account.uid")
		if n.drop("data", "token") {
			n.step.Notes = append(n.step.Notes, reason.TokenDropped)
		}
	}
}

// drop removes a field and says so.
func (n *node) drop(path ...string) bool {
	if !remove(n.content, path...) {
		return false
	}
	n.step.Stripped = append(n.step.Stripped, strings.Join(path, "."))
	return true
}

// stripFinalizers leaves out those of the collector. They are wishes for the
// deletion that was, and would choose the policy of the next one. Others stay:
// whoever they belong to expects them on such an object.
func (n *node) stripFinalizers() {
	metadata, _ := n.content["metadata"].(map[string]any)
	list, _ := metadata["finalizers"].([]any)
	kept := slices.DeleteFunc(slices.Clone(list), func(f any) bool { return f == object.Foreground || f == object.Orphan })
	switch {
	case len(kept) == len(list):
		return
	case len(kept) == 0:
		delete(metadata, "finalizers")
	default:
		metadata["finalizers"] = kept
	}
	n.step.Stripped = append(n.step.Stripped, "metadata.finalizers of the garbage collector")
}

// addresses are the fields of a Service that hold allocated addresses, as a server names them
// that refuses one. Others may have them by now, and then the whole Service is refused.
//
// Upstream: pkg/registry/core/service/ipallocator/interfaces.go ErrAllocated.
var addresses = []string{"spec.clusterIP", "spec.healthCheckNodePort", "spec.ports"}

// DropAddresses leaves those addresses and ports of a Service out that the fields of a refusal name,
// so that the server allocates others. It reports false if there are none of them.
func (s *Step) DropAddresses(refused []string) bool {
	if s.Verb != Create || !s.Object.Is(object.Service) {
		return false
	}
	n := node{Saved: Saved{Object: s.Object}, content: s.content}
	for _, field := range addresses {
		if slices.ContainsFunc(refused, func(f string) bool { return strings.HasPrefix(f, field) }) {
			n.dropAddress(field)
		}
	}
	if len(n.step.Stripped) == 0 {
		return false
	}
	s.Stripped = append(slices.Clip(s.Stripped), n.step.Stripped...)
	s.note(reason.AddressesDropped)
	return true
}

// dropAddress leaves out one of the fields of addresses. A headless Service says None, which is no
// address.
func (n *node) dropAddress(field string) {
	switch field {
	case "spec.clusterIP":
		if textAt(n.content, "spec", "clusterIP") != "None" {
			n.drop("spec", "clusterIP")
			n.drop("spec", "clusterIPs")
		}
	case "spec.healthCheckNodePort":
		n.drop("spec", "healthCheckNodePort")
	case "spec.ports":
		ports, _ := at(n.content, "spec", "ports").([]any)
		had := false
		for _, entry := range ports {
			if port, ok := entry.(map[string]any); ok {
				had = remove(port, "nodePort") || had
			}
		}
		if had {
			n.step.Stripped = append(n.step.Stripped, "spec.ports.nodePort")
		}
	}
}

// bindingMarks are the marks of a binding of a claim that is no more: with them and
// without its volume a claim counts as lost.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go PersistentVolumeController.syncClaim.
var bindingMarks = []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"}

// noteVolume says what is with the volume of a claim. Its name stays in the claim. A
// claim without it would get an empty volume, and nothing would show it.
func (n *node) noteVolume(p *planning) {
	name := textAt(n.content, "spec", "volumeName")
	if name == "" {
		return
	}
	volume := object.PV.Ref("", name)
	if i, filled := p.places[placeOf(volume)]; filled && p.nodes[i].state == made {
		return
	}
	live, err := p.now.Lookup(volume)
	switch {
	case err != nil:
		n.step.note(reason.VolumeUnknown)
	case live == nil:
		n.step.note(reason.VolumeGone)
	case live.Volume() == nil:
		n.step.note(reason.VolumeUnknown)
	case live.Volume().ClaimUID == n.Object.UID:
		n.step.note(reason.VolumeReleased)
	case live.Volume().ClaimUID != "":
		n.step.note(reason.VolumeTaken)
	}
}

// stripJob leaves out the selector and the labels that hold the UID of the Job,
// which the server makes anew, unless the user chose them.
//
// Upstream: pkg/registry/batch/job/strategy.go generateSelector.
func (n *node) stripJob() {
	if manual, _ := at(n.content, "spec", "manualSelector").(bool); manual {
		return
	}
	n.drop("spec", "selector")
	for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
		n.drop("metadata", "labels", label)
		n.drop("spec", "template", "metadata", "labels", label)
	}
}

// isToken reports whether the object is the token of a ServiceAccount.
func isToken(n *node) bool {
	return n.Object.Is(object.Secret) && text(n.content, "type") == "kubernetes.io/service-account-token"
}

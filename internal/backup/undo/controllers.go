package undo

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// makers are the kinds of controllers' objects that create these dependents by themselves. The
// ReplicaSets of a Deployment are not listed: the older ones are its history.
var makers = map[string][]string{
	"Pod":                   {"v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "batch/v1 Job"},
	"PersistentVolumeClaim": {"v1 Pod"},
	"ResourceClaim":         {"v1 Pod"},
}

// versions are the kinds that hold the revisions of a workload. A recreated workload has its own.
// The old ones would be scaled down after their pods were created.
var versions = map[string][]string{
	"ReplicaSet":         {"apps/v1 Deployment"},
	"ControllerRevision": {"apps/v1 StatefulSet", "apps/v1 DaemonSet"},
}

const (
	// mirrorAnnotation marks the mirror pod of a static pod, which the kubelet creates.
	//
	// Upstream: api/core/v1/annotation_key_constants.go MirrorPodAnnotationKey.
	mirrorAnnotation = "kubernetes.io/config.mirror"
	// leaderAnnotation marks the lock of a leader election.
	//
	// Upstream: client-go/tools/leaderelection/resourcelock/interface.go LeaderElectionRecordAnnotationKey.
	leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"
	// RootCertificates is the name of the ConfigMap with root certificates in every namespace.
	//
	// Upstream: pkg/controller/certificates/rootcacertpublisher/publisher.go RootCACertConfigMapName.
	RootCertificates = "kube-root-ca.crt"
)

// managedBy are the labels that controllers put on their objects, with the values that mean a
// controller; nil for any.
//
// Upstream: pkg/controller/endpoint/endpoints_controller.go LabelManagedBy, ControllerName.
// Upstream: api/discovery/v1/well_known_labels.go LabelManagedBy.
// Upstream: pkg/controller/endpointslice/endpointslice_controller.go ControllerName.
// Upstream: pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go ControllerName.
// Upstream: api/networking/v1/well_known_labels.go LabelManagedBy.
// Upstream: pkg/registry/core/service/ipallocator/ipallocator.go ControllerName.
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go AutoRegisterManagedLabel.
var managedBy = map[string]struct {
	label  string
	values []string
}{
	"/Endpoints":                     {"endpoints.kubernetes.io/managed-by", []string{"endpoint-controller"}},
	"discovery.k8s.io/EndpointSlice": {"endpointslice.kubernetes.io/managed-by", []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}},
	"networking.k8s.io/IPAddress":    {"ipaddress.kubernetes.io/managed-by", []string{"ipallocator.k8s.io"}},
	"apiregistration.k8s.io/APIService": {
		"kube-aggregator.kubernetes.io/automanaged", nil,
	},
}

// byItself returns why an undo never creates such an object: a controller recreates it, or its
// content is outdated. Empty for others.
func (p *planning) byItself(i int) reason.Code {
	n := &p.nodes[i]
	switch group := n.Object.Group(); {
	case n.Object.IsEvent():
		return reason.PastEvent
	case group == "coordination.k8s.io", (group == "") && textAt(n.content, "metadata", "annotations", leaderAnnotation) != "":
		return reason.HolderMakesIt
	case n.Object.Is(object.ConfigMap) && n.Object.Name == RootCertificates,
		n.Object.Is(object.VolumeAttachment), n.Object.Is(object.ResourceSlice),
		n.Object.Is(object.PodCertificateRequest):
		return reason.ControllerMakesIt
	case p.labelled(n), p.ofService(n), p.controllerMakes(i):
		return reason.ControllerMakesIt
	case p.now.AcceptRecreatedOwners && p.lacksController(i):
		return reason.ControllerMissing
	default:
		return ""
	}
}

// hasBuiltInController reports whether the object that exists again has a built-in controller that
// creates such objects. That controller decides its content.
func (n *node) hasBuiltInController() bool {
	owner, controlled := n.live.Controller()
	kind := owner.APIVersion + " " + owner.Kind
	return controlled && !n.Object.Is(object.PVC) && (slices.Contains(makers[n.Object.Kind], kind) || slices.Contains(versions[n.Object.Kind], kind))
}

// labelled reports whether a controller has marked the object as its own.
func (p *planning) labelled(n *node) bool {
	mark, ok := managedBy[n.Object.Group()+"/"+n.Object.Kind]
	if !ok {
		return false
	}
	value, there := at(n.content, "metadata", "labels", mark.label).(string)
	return there && (mark.values == nil || slices.Contains(mark.values, value))
}

// ofService reports whether the object is the Endpoints of a Service that selects pods. Users write
// the Endpoints of a Service without a selector.
func (p *planning) ofService(n *node) bool {
	if !n.Object.Is(object.Endpoints) {
		return false
	}
	i, there := p.services[object.Service.Ref(n.Object.Namespace, n.Object.Name).Coordinates()]
	if !there {
		return false
	}
	selector, _ := at(p.nodes[i].content, "spec", "selector").(map[string]any)
	return len(selector) > 0
}

// lacksController reports whether a pod had a controller that neither exists nor is recreated. The
// pod would run unmanaged.
func (p *planning) lacksController(i int) bool {
	n := &p.nodes[i]
	return n.Object.Is(object.Pod) && slices.ContainsFunc(n.owners, func(ref object.OwnerReference) bool {
		if ref.Controller != object.True || !slices.Contains(makers["Pod"], ref.APIVersion+" "+ref.Kind) {
			return false
		}
		owner, why := p.owner(i, ref)
		return owner < 0 && (why == reason.OwnerGone || why == reason.OwnerNotRestored)
	})
}

// controllerMakes reports whether a controller recreates the object: its owner exists or is
// recreated and creates such objects, or it is the mirror of a static pod.
func (p *planning) controllerMakes(i int) bool {
	n := &p.nodes[i]
	if _, mirror := at(n.content, "metadata", "annotations", mirrorAnnotation).(string); mirror && n.Object.Is(object.Pod) {
		return true
	}
	if !object.BuiltIn(n.Object.Group()) {
		return false
	}
	for _, ref := range n.owners {
		kind := ref.APIVersion + " " + ref.Kind
		if ref.Controller == object.True && slices.Contains(versions[n.Object.Kind], kind) {
			owner, why := p.owner(i, ref)
			return p.recreatedOwner(i, ref, why) != "" || owner >= 0 && p.nodes[owner].Object.UID != ref.UID
		}
		if ref.Controller != object.True || !slices.Contains(makers[n.Object.Kind], kind) {
			continue
		}
		if ref.Is(object.Pod) { // a pod recreated under its name keeps its claims, any other gets new ones
			saved := p.byUID[ref.UID]
			return len(saved) == 1 && saved[0] != i && p.nodes[saved[0]].Object.Is(object.Pod) && p.controllerMakes(saved[0])
		}
		if _, why := p.owner(i, ref); why == "" || why == reason.OwnerIsAnother { // the existing owner creates its own
			return true
		}
		if saved := p.byUID[ref.UID]; len(saved) == 1 && p.nodes[saved[0]].skip.Reason == reason.ControllerMakesIt {
			return true
		}
	}
	return false
}

// rewritten decides about an object that a controller changed because another object was deleted:
// whether restoring the other object undoes the change.
//
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
// Upstream: pkg/controller/serviceaccount/tokens_controller.go removeSecretReference.
func (p *planning) rewritten(n *node) {
	switch {
	case n.Object.Is(object.ClusterRole) && at(n.content, "aggregationRule") != nil:
		n.skip.Reason = reason.RulesComeBack
	case n.Object.Is(object.ServiceAccount):
		p.giveSecrets(n)
	}
}

// giveSecrets plans to add the lost names of Secrets to a ServiceAccount, if the Secrets exist or
// are recreated. The tokens controller does not add them.
func (p *planning) giveSecrets(n *node) {
	lost, raw := p.secretsLost(n)
	if len(lost) == 0 {
		return
	}
	s := Step{Verb: Secrets, Object: n.Object, live: n.live, now: raw, Notes: []reason.Code{reason.SecretsAdded}}
	var gone []string
	for _, name := range lost {
		at := object.Secret.Ref(n.Object.Namespace, name)
		if i, planned := p.places[at.Coordinates()]; planned && p.nodes[i].state == made || HasSecret(p.now.Lookup, at) {
			s.Secrets = append(s.Secrets, name)
		} else {
			gone = append(gone, name)
		}
	}
	switch {
	case len(s.Secrets) == 0:
		n.skip.Reason, n.skip.Detail = reason.SecretsLost, strings.Join(gone, ", ")
		return
	case len(gone) > 0:
		s.Notes = append(s.Notes, reason.SecretsLost)
	}
	n.step = s
}

// HasSecret reports whether a Secret exists and is not being deleted.
func HasSecret(look Lookup, at object.Ref) bool {
	live, err := look(at)
	return err == nil && live != nil && !live.BeingDeleted()
}

// secretsLost returns the saved entries of a ServiceAccount's secrets that are missing now, and the
// current bytes of the ServiceAccount. Both are nil if it cannot be read.
func (p *planning) secretsLost(n *node) (lost []string, raw []byte) {
	now, raw := p.current(n)
	if now == nil {
		return nil, nil
	}
	left := secretNames(now)
	return slices.DeleteFunc(secretNames(n.content), func(name string) bool { return slices.Contains(left, name) }), raw
}

// current returns the present content and bytes of an object that exists; nil if it cannot be read
// or has another UID by now.
func (p *planning) current(n *node) (content map[string]any, raw []byte) {
	if p.now.Content == nil {
		return nil, nil
	}
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return nil, nil
	}
	if content, err = ContentOf(raw); err != nil || textAt(content, "metadata", "uid") != string(n.live.UID) {
		return nil, nil
	}
	return content, raw
}

// secretsAdded returns a merge patch that adds the names of the step to the secrets of a
// ServiceAccount, with its UID and resourceVersion. Existing entries stay.
func (s *Step) secretsAdded(live *object.Object, now map[string]any) ([]byte, error) {
	list, _ := now["secrets"].([]any)
	has := secretNames(now)
	for _, name := range s.Secrets {
		if !slices.Contains(has, name) {
			list = append(list, map[string]any{"name": name})
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.UID, "resourceVersion": live.ResourceVersion}, "secrets": list,
	})
}

func secretNames(account map[string]any) []string {
	list, _ := account["secrets"].([]any)
	var names []string
	for _, entry := range list {
		if ref, ok := entry.(map[string]any); ok {
			names = append(names, textAt(ref, "name"))
		}
	}
	return names
}

package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Hook keeps a Machine from being drained or terminated, until its owner removes it.
type Hook struct {
	// Field is the annotation of Cluster API, or the field of OpenShift with the name of the hook.
	Field string `json:"field"`
	// Owner is what its author wrote. It may be empty.
	Owner string `json:"owner,omitzero"`
	// BeforeDrain is true for a hook before the drain: a Machine that is not drained does not wait for it.
	BeforeDrain bool `json:"beforeDrain,omitzero"`
}

// machineBody has the fields that are read from a Machine that is being deleted or has finalizers.
type machineBody struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Hooks struct {
			PreDrain     []machineHook `json:"preDrain"`
			PreTerminate []machineHook `json:"preTerminate"`
		} `json:"lifecycleHooks"`
	} `json:"spec"`
}

type machineHook struct {
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

var machineFields = heldFields.And(manifest.FieldsOf(machineBody{}))

const (
	openShiftMachines = "machine.openshift.io"
	clusterAPI        = "cluster.x-k8s.io"
)

// machineFinalizers are the finalizers that the hooks of a Machine hold, by its group.
var machineFinalizers = map[string]string{openShiftMachines: "machine.machine.openshift.io", clusterAPI: "machine.cluster.x-k8s.io"}

func isMachine(group, kind string) bool { return kind == "Machine" && machineFinalizers[group] != "" }

// The prefixes of the hooks of Cluster API. The controller of a control plane adds ownHook to its Machines, and removes it
// as a part of every deletion.
//
// Source: cluster-api, api/core/v1beta2/machine_types.go PreDrainDeleteHookAnnotationPrefix,
// PreTerminateDeleteHookAnnotationPrefix; controlplane/kubeadm/internal/controllers/controller.go
// reconcilePreTerminateHook.
const (
	beforeDrain       = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
	beforeTermination = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
	ownHook           = beforeTermination + "/kcp-cleanup"
)

// undrained is the annotation of a Machine of OpenShift that is not drained.
//
// Source: openshift/machine-api-operator, pkg/controller/machine/drain_controller.go Reconcile.
const undrained = "machine.openshift.io/exclude-node-draining"

// hooksOf returns the hooks of a Machine, those before the drain first; nil for other objects.
func hooksOf(b *body, raw []byte) (hooks []Hook) {
	group := object.GroupOf(b.APIVersion)
	var d machineBody
	if !isMachine(group, b.Kind) || decode(raw, &d) != nil {
		return nil
	}
	if group == openShiftMachines {
		for _, h := range d.Spec.Hooks.PreDrain {
			if _, never := d.Metadata.Annotations[undrained]; !never {
				hooks = append(hooks, Hook{"spec.lifecycleHooks.preDrain " + h.Name, h.Owner, true})
			}
		}
		for _, h := range d.Spec.Hooks.PreTerminate {
			hooks = append(hooks, Hook{"spec.lifecycleHooks.preTerminate " + h.Name, h.Owner, false})
		}
		return hooks
	}
	for _, key := range slices.Sorted(maps.Keys(d.Metadata.Annotations)) {
		if drain := strings.HasPrefix(key, beforeDrain); drain || strings.HasPrefix(key, beforeTermination) && key != ownHook {
			hooks = append(hooks, Hook{"annotation " + key, d.Metadata.Annotations[key], drain})
		}
	}
	return hooks
}

// hookOf returns the first hook that keeps the finalizer of a Machine. The node of a Machine that never had one, or whose
// Cluster is being deleted, is not drained. OpenShift looks at no hook once it has drained the node.
//
// Source: cluster-api, internal/controllers/machine/machine_controller.go reconcileDelete, isDeleteNodeAllowed.
// Source: openshift/machine-api-operator, pkg/controller/machine/drain_controller.go and controller.go Reconcile.
func (s *Assessment) hookOf(o *object.Object, name string) finalizer.Pause {
	shown := s.Shown(o)
	if shown == nil || machineFinalizers[o.Group()] != name {
		return finalizer.Pause{}
	}
	cluster := s.boundObjects().ClusterOf(o)
	drained, _ := Find(shown.Conditions, "Drained")
	for _, h := range shown.Hooks {
		if h.BeforeDrain && (shown.Node == "" || drained.True() || cluster != nil && cluster.BeingDeleted()) {
			continue
		}
		p := finalizer.Pause{By: h.Field, On: o.Ref, MayEnd: true, Why: "its " + h.Field + " holds it until " + cmp.Or(h.Owner, "the owner of that hook") + " removes it"}
		if h.BeforeDrain && cluster != nil {
			p.Until = cluster.Ref
		}
		return p
	}
	return finalizer.Pause{}
}

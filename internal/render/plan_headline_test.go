package render

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestTerminatingIn: what goes with an object that is being deleted is no garbage, however far below it, and
// what goes with garbage is.
func TestTerminatingIn(t *testing.T) {
	ref := func(kind, name string) object.Ref { return object.Ref{APIVersion: "v1", Kind: kind, Name: name} }
	shop, other, node := ref("Namespace", "shop"), ref("Namespace", "other"), ref("Node", "gone")
	byController := string(reason.DeletedByController)
	effects := []report.Effect{
		{Object: shop, Reason: reason.BeingDeleted.String()},
		{Object: ref("Service", "web"), Reason: byController, Because: []object.Ref{shop}},
		{Object: ref("IPAddress", "web"), Reason: byController, Because: []object.Ref{ref("Service", "web")}},
		{Object: ref("ConfigMap", "elsewhere"), Reason: byController, Because: []object.Ref{other}},
		{Object: ref("Pod", "lost"), Reason: byController, Because: []object.Ref{node}},
		{Object: ref("Pod", "garbage"), Reason: string(reason.NoExistingOwner)},
		{Object: ref("PersistentVolumeClaim", "below"), Reason: byController, Because: []object.Ref{ref("Pod", "garbage")}},
		{Object: ref("Pod", "cycle"), Reason: byController, Because: []object.Ref{ref("Pod", "cycle")}},
	}
	want := []bool{true, true, true, true, false, false, false, false}
	terminating := terminatingIn(effects)
	for i := range effects {
		if got := terminating(&effects[i]); got != want[i] {
			t.Errorf("%s %s: %t", effects[i].Object.Kind, effects[i].Object.Name, got)
		}
	}
}

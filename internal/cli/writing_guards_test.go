package cli

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestReleased: removing a finalizer may free an object of a protected kind only if that was
// deleted before, or is deleted with its CRD.
func TestReleased(t *testing.T) {
	namespace := object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "u"}
	living := &object.Object{Ref: namespace}
	deleted := living.Clone()
	deleted.Edit().DeletionTimestamp = 1
	if living.BeingDeleted() || !deleted.BeingDeleted() {
		t.Fatal("the objects are not what they are meant to be")
	}
	other := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "held"}
	registration := &object.Object{
		Ref:    object.Ref{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: "v1.example.com", UID: "r"},
		Labels: object.LabelsOf(map[string]string{"kube-aggregator.kubernetes.io/automanaged": "true"}),
	}
	for _, test := range []struct {
		name   string
		verb   plan.Verb
		target object.Ref
		why    reason.Code
		seen   *object.Object
		want   bool
	}{
		{"it was deleted before", plan.RemoveFinalizer, other, reason.ProtectedKind, deleted, true},
		{"it lives", plan.RemoveFinalizer, other, reason.ProtectedKind, living, false},
		{"it goes with its CRD", plan.RemoveFinalizer, other, reason.ProtectedKind, registration, true},
		{"it goes with its CRD, which we delete", plan.Delete, other, reason.ProtectedKind, registration, false},
		{"nobody has seen it", plan.RemoveFinalizer, other, reason.ProtectedKind, nil, false},
		{"it is named itself", plan.RemoveFinalizer, namespace, reason.ProtectedKind, deleted, true},
		{"an annotation holds it", plan.RemoveFinalizer, other, reason.ProtectedByAnnotation, deleted, false},
		{"a namespace of the system", plan.RemoveFinalizer, other, reason.ProtectedNamespace, deleted, false},
		{"a delete", plan.Delete, other, reason.ProtectedKind, deleted, false},
	} {
		p := &report.Plan{Seed: report.Seed{Verb: string(test.verb), Targets: []object.Ref{test.target}}}
		if got := isUnprotected(p, test.why, test.seen); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

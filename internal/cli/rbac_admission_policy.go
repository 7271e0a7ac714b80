package cli

import (
	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// admissionPolicyName is the name of the admission policy for the rbac command.
const admissionPolicyName = "protect"

// admissionPolicy returns a ValidatingAdmissionPolicy and its binding. The API server then refuses
// every DELETE of an object that object.ProtectAnnotation protects, by the rule of
// object.ProtectionBy: any value but exactly `false`. This includes requests of the garbage
// collector and the namespace controller. Removing the annotation is an UPDATE, and allowed.
//
// A DELETE of a collection is admitted object by object. A policy never sees requests for
// admission policies and webhook configurations themselves.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.DeleteCollection.
// Upstream: apiserver/pkg/admission/plugin/policy/generic/plugin.go Plugin.Dispatch.
func admissionPolicy() []runtime.Object {
	const name = "protect.kubectl-gc.io"
	fail, all := admission.Fail, admission.AllScopes
	forbidden := metav1.StatusReasonForbidden
	meta := metav1.ObjectMeta{Name: name}
	version := admission.SchemeGroupVersion.String()
	return []runtime.Object{
		&admission.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: meta,
			Spec: admission.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fail,
				MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{
					RuleWithOperations: admission.RuleWithOperations{
						Operations: []admission.OperationType{admission.Delete},
						Rule:       admission.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &all},
					},
				}}},
				Validations: []admission.Validation{{
					Expression: object.ProtectExpression,
					Message:    "protected by its annotation " + object.ProtectAnnotation + ": remove the annotation first",
					Reason:     &forbidden,
				}},
			},
		},
		&admission.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: meta,
			Spec: admission.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admission.ValidationAction{admission.Deny},
			},
		},
	}
}

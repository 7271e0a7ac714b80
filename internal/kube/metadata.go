package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ObjectOf converts metadata to an object.Object.
func ObjectOf(m metav1.Object, apiVersion, kind string) *object.Object {
	o := &object.Object{
		Ref:             object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID()},
		ResourceVersion: m.GetResourceVersion(),
		Labels:          object.LabelsOf(m.GetLabels()),
		Generation:      m.GetGeneration(),
	}
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		o.Created = created.Unix()
	}
	for _, ref := range m.GetOwnerReferences() {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID,
			Controller: object.FlagOf(ref.Controller), BlockOwnerDeletion: object.FlagOf(ref.BlockOwnerDeletion),
		})
	}
	deleted, grace := m.GetDeletionTimestamp(), m.GetDeletionGracePeriodSeconds()
	protection := object.ProtectionOf(m.GetAnnotations())
	revision := object.RevisionBy(m.GetAnnotations()[object.RevisionAnnotation])
	if len(m.GetFinalizers()) == 0 && protection == 0 && revision == 0 && deleted == nil && grace == nil {
		return o
	}
	life := o.Edit()
	life.Finalizers, life.GracePeriod, life.Protection, life.Revision = m.GetFinalizers(), grace, protection, revision
	if deleted != nil {
		life.DeletionTimestamp = deleted.Unix()
	}
	return o
}

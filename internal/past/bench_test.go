package past_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// BenchmarkTrace deletes a namespace of 5,000 objects among 100,000 others: Services with their
// Endpoints, claims with their volumes, and owners with their dependents.
func BenchmarkTrace(b *testing.B) {
	p := crowd(100000, 5000)
	b.ReportAllocs()
	for b.Loop() {
		a := past.Trace(p)
		if len(a.Requests) != 1 || a.Requests[0].Explains != len(a.Losses) || len(a.Losses) < 5000 {
			b.Fatalf("%d requests for %d losses", len(a.Requests), len(a.Losses))
		}
	}
}

// crowd returns the past of a namespace that is deleted among others.
func crowd(standing, lost int) *past.Record {
	p := &past.Record{Resources: scenario.Resources(), From: past.Moment{Revision: 1}}
	put := func(ref object.Ref, owners ...object.OwnerReference) *object.Object {
		o := &object.Object{Ref: ref, Owners: owners}
		o.UID = types.UID(ref.Kind + "/" + ref.Namespace + "/" + ref.Name)
		return o
	}
	fill := func(namespace string, n int) (list []*object.Object) {
		for i := range n / 5 {
			name := fmt.Sprint(namespace, i)
			owner := put(object.ConfigMap.Ref(namespace, name))
			claim := put(object.PVC.Ref(namespace, name))
			volume := put(object.PV.Ref("", name))
			volume.Edit().Facts = &object.PVFacts{ClaimNamespace: namespace, ClaimName: name, ClaimUID: claim.UID, Phase: "Bound", ReclaimPolicy: "Delete", Provisioner: "csi.example.com"}
			list = append(list, owner, claim, volume, put(object.Service.Ref(namespace, name)), put(object.Endpoints.Ref(namespace, name)),
				put(object.Secret.Ref(namespace, name), object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: owner.UID}))
		}
		return list
	}
	there := put(object.Namespace.Ref("", "there"))
	p.Unchanged = append(fill("there", standing), there)
	namespace := put(object.Namespace.Ref("", "gone"))
	namespace.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	going := namespace.Clone()
	going.Edit().DeletionTimestamp = 1
	p.Changes = append(p.Changes, past.Change{Revision: 2, Type: object.Modified, Object: going, Old: namespace})
	for i, o := range fill("gone", lost) {
		p.Changes = append(p.Changes, past.Change{Revision: uint64(3 + i), Type: object.Deleted, Object: o})
	}
	p.Changes = append(p.Changes, past.Change{Revision: uint64(10 + 2*lost), Type: object.Deleted, Object: going})
	p.To.Revision = uint64(20 + 2*lost)
	return p
}

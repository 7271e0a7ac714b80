package kube

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestEndsOf: each incarnation of a CRD ends once, just before its deletion began.
func TestEndsOf(t *testing.T) {
	crd := func(uid types.UID, deleted int64) *object.Object {
		o := &object.Object{Ref: object.CRD.Ref("", "lamps.example.com")}
		o.UID = uid
		o.Edit().Facts = &object.CRDFacts{Group: "example.com", Plural: "lamps"}
		o.Edit().DeletionTimestamp = deleted
		return o
	}
	ends := endsOf([]history.Change{
		{Revision: 10, Type: object.Deleted, Object: crd("before", 1), Old: crd("before", 1)},
		{Revision: 20, Type: object.Added, Object: crd("first", 0)},
		{Revision: 30, Type: object.Modified, Object: crd("first", 2), Old: crd("first", 0)},
		{Revision: 35, Type: object.Deleted, Object: crd("first", 2), Old: crd("first", 2)},
		{Revision: 40, Type: object.Added, Object: crd("second", 0)},
		{Revision: 50, Type: object.Deleted, Object: crd("second", 0)},
		{Revision: 60, Type: object.Added, Object: crd("third", 0)},
	})
	if got := ends[schema.GroupResource{Group: "example.com", Resource: "lamps"}]; !slices.Equal(got, []uint64{29, 49}) || len(ends) != 1 {
		t.Errorf("%v", ends)
	}
}

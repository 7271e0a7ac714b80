package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestPastOfCRD: what came since the past begins, and went with the CRD of its kind, is found by
// what was there just before; what came and went between is not.
func TestPastOfCRD(t *testing.T) {
	gr := schema.GroupResource{Resource: "configmaps"}
	a := stored()
	a.came = map[string]uint64{"e": 300, "f": 599, "g": 200, "h": 500}
	a.gone = map[string]uint64{"b": 601, "e": 602, "f": 603, "g": 250, "h": 800}
	got, _ := a.read(t, func(rd *pastReader) { rd.ends = map[schema.GroupResource][]uint64{gr: {600, 700}} })
	var text []string
	for _, c := range got.changes {
		text = append(text, fmt.Sprint(c.Type, c.Object.Name, c.Revision))
	}
	want := fmt.Sprintf("%[1]ve300 %[1]vh500 %[1]vf599 %[2]vb601 %[2]ve602 %[2]vf603 %[2]vh800", object.Added, object.Deleted)
	if strings.Join(text, " ") != want || got.why == nil {
		t.Errorf("%v, want %s; %v", text, want, got.why)
	}
}

// TestPastOfOtherScope: what a CRD with another scope had cannot be asked for by its name, and no
// end of it is made up.
func TestPastOfOtherScope(t *testing.T) {
	s, c := ready(t)
	everywhere := Place{object.Resource{Version: "v1", Name: "nodes", Kind: "Node", Verbs: object.AllVerbs}, ""}
	s.on("/api/v1/nodes", listOf("100", "", "in-a-namespace"))
	then := map[object.Ref]*leaving{}
	if err := newPastReader(c, 100, 1000).seen(context.Background(), everywhere, 900, then); err != nil || len(then) != 0 {
		t.Errorf("%v %v", then, err)
	}
}

// TestEndsOf: each life of a CRD ends once, just before its deletion began.
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

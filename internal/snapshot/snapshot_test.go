package snapshot

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Place is the same whether the hint of an object is its own, another snapshot's, or missing: for
// clones, derived snapshots, those derived from them, and added objects.
func TestPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		objects := make([]*object.Object, rapid.IntRange(1, 60).Draw(t, "objects"))
		for i := range objects {
			objects[i] = configMap(fmt.Sprintf("o-%02d", i), rapid.IntRange(0, 50).Draw(t, "uid"))
		}
		whole, err := New(slices.Clone(objects), nil, nil, Source{})
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range whole.Objects {
			if o.Hint() != uint32(i)+1 {
				t.Fatalf("%s at %d was told %d", o.Ref, i, o.Hint())
			}
		}
		part := whole.With(kept(t, whole.Objects))
		added := part.With(append(slices.Clone(part.Objects), configMap("new", 99)))
		other, err := New(kept(t, whole.Objects), nil, nil, Source{}) // it tells its objects other places
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Snapshot{whole, part, added, other, added.With(kept(t, added.Objects))} {
			for _, o := range append(slices.Clone(objects), configMap("new", 99), configMap("o-01", 98)) {
				want := slices.IndexFunc(s.Objects, func(x *object.Object) bool { return x.Ref == o.Ref })
				if got, clone := s.Place(o), s.Place(o.Clone()); got != want || clone != want {
					t.Fatalf("%s is at %d, and its clone at %d, of %d; not at %d", o.Ref, got, clone, len(s.Objects), want)
				}
			}
		}
	})
}

func configMap(name string, uid int) *object.Object {
	return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name, UID: types.UID(fmt.Sprint("uid-", uid))}}
}

// kept draws some of the objects, and possibly a clone of one.
func kept(t *rapid.T, objects []*object.Object) []*object.Object {
	var list []*object.Object
	for _, o := range objects {
		switch rapid.IntRange(0, 3).Draw(t, "kept") {
		case 0:
		case 1:
			list = append(list, o.Clone())
		default:
			list = append(list, o)
		}
	}
	return list
}

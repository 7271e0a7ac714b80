package snapshot_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestCursor: a Cursor finds the same as Find, in any order of lookups.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("o", rapid.IntRange(0, 60).Draw(t, "n")) })
		var objects []*object.Object
		for i, n := range rapid.SliceOfNDistinct(name, 0, 40, rapid.ID).Draw(t, "names") {
			o := &object.Object{Ref: object.ConfigMap.Ref("shop", n)}
			o.UID, o.ResourceVersion = types.UID(fmt.Sprint(i)), "1"
			objects = append(objects, o)
		}
		snap, err := snapshot.New(objects, nil, snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		along := snap.Cursor()
		for _, n := range rapid.SliceOf(name).Draw(t, "asked for") {
			ref := object.ConfigMap.Ref("shop", n)
			if got, want := along.Find(ref), snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); got != want {
				t.Fatalf("%s: %v, want %v", n, got, want)
			}
		}
	})
}

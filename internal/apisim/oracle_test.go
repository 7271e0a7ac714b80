package apisim

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func genOwner() *rapid.Generator[object.OwnerReference] {
	return rapid.Custom(func(t *rapid.T) object.OwnerReference {
		flag := rapid.SampledFrom([]object.Flag{object.Unset, object.False, object.True})
		return object.OwnerReference{
			APIVersion:         rapid.SampledFrom([]string{"v1", "apps/v1", "events.k8s.io/v1", "", "/v1", "a/", "/", "a/b/c"}).Draw(t, "apiVersion"),
			Kind:               rapid.SampledFrom([]string{"ConfigMap", "Event", ""}).Draw(t, "kind"),
			Name:               rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "name"),
			UID:                types.UID(rapid.SampledFrom([]string{"1", "2", "3", ""}).Draw(t, "uid")),
			Controller:         flag.Draw(t, "controller"),
			BlockOwnerDeletion: flag.Draw(t, "block"),
		}
	})
}

func metaOwners(owners []object.OwnerReference) []metav1.OwnerReference {
	var list []metav1.OwnerReference
	for _, o := range owners {
		list = append(list, metav1.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID,
			Controller: o.Controller.Bool(), BlockOwnerDeletion: o.BlockOwnerDeletion.Bool(),
		})
	}
	return list
}

// The short cut for valid owner references agrees with the validation of a real server.
func TestOwnersAreValidAgreesWithUpstream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owners := rapid.SliceOfN(genOwner(), 0, 3).Draw(t, "owners")
		want := len(validation.ValidateOwnerReferences(metaOwners(owners), ownersPath)) == 0
		if got := ownersAreValid(owners); got != want {
			t.Fatalf("%+v: got %t, want %t", owners, got, want)
		}
	})
}

// A strategic merge patch of owner references and finalizers has the result that a real server
// computes from the bytes of its body.
func TestStrategicPatchAgreesWithUpstream(t *testing.T) {
	valid := genOwner().Filter(func(o object.OwnerReference) bool { return o.UID != "" })
	rapid.Check(t, func(t *rapid.T) {
		owners := rapid.SliceOfN(valid, 0, 4).Draw(t, "owners")
		p := object.Patch{
			MergeOwners:  rapid.SliceOfN(valid, 0, 3).Draw(t, "merge"),
			DeleteOwners: rapid.SliceOfNDistinct(rapid.SampledFrom([]types.UID{"1", "2", "9"}), 0, 2, rapid.ID).Draw(t, "delete"),
		}
		p.MergeOwners = slices.DeleteFunc(p.MergeOwners, func(o object.OwnerReference) bool {
			return slices.Contains(p.DeleteOwners, o.UID)
		})
		// Distinct ones: with duplicates in storage the real server's order depends
		// on the capacity of a slice.
		finalizers := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a/x", "b/y", "c/z"}), 0, 3, rapid.ID)
		old := &object.Object{Owners: owners}
		old.Edit().Finalizers = finalizers.Draw(t, "finalizers")
		if merge := finalizers.Draw(t, "merge finalizers"); rapid.Bool().Draw(t, "patch finalizers") {
			p.Finalizers = &merge
		} else {
			p.DeleteFinalizers = finalizers.Draw(t, "delete finalizers")
		}
		next := patched(old, p)
		got := metav1.ObjectMeta{OwnerReferences: metaOwners(next.Owners), Finalizers: next.Finalizers()}
		if diff := cmp.Diff(upstreamPatch(t, old, p), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-upstream +ours):\n%s", p.Body(), diff)
		}
	})
}

func upstreamPatch(t *rapid.T, old *object.Object, p object.Patch) metav1.ObjectMeta {
	original, err := json.Marshal(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: metaOwners(old.Owners), Finalizers: old.Finalizers(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(original, p.Body(), metav1.PartialObjectMetadata{})
	if err != nil {
		t.Fatal(err)
	}
	var result metav1.PartialObjectMetadata
	if err := json.Unmarshal(merged, &result); err != nil {
		t.Fatal(err)
	}
	return result.ObjectMeta
}

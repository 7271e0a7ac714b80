package object

import (
	"encoding/json"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// PatchType is the media type of a patch.
type PatchType uint8

// The patch types (spec §2.11). The collector sends the first two.
const (
	// StrategicMerge is supported by built-in kinds only; custom resources return 415.
	StrategicMerge PatchType = iota
	Merge
	// JSON is a list of operations, applied all or none. (RFC 6902)
	JSON
)

// String returns the media type as written in the Content-Type header.
func (t PatchType) String() string {
	switch t {
	case Merge:
		return string(types.MergePatchType)
	case JSON:
		return string(types.JSONPatchType)
	default:
		return string(types.StrategicMergePatchType)
	}
}

// Patch is a change of metadata. Body returns its bytes for a real server; a simulated one reads
// the fields. (spec §3.12)
type Patch struct {
	Type PatchType
	// UID is metadata.uid of the body. A server returns 422 if the stored object has another one.
	// Empty: not sent.
	UID types.UID
	// ResourceVersion is metadata.resourceVersion of the body. A server returns 409 if the stored
	// object has another one. Empty: not sent.
	ResourceVersion string

	// DeleteOwners (strategic only) removes all references with these UIDs.
	DeleteOwners []types.UID
	// MergeOwners (strategic only) are merged by UID into the first reference with that UID, or
	// appended.
	MergeOwners []OwnerReference
	// Owners (merge only) replaces the whole list. A pointer to an empty list removes the field.
	Owners *[]OwnerReference
	// Finalizers replaces the whole list in a merge patch. A pointer to an empty list removes the
	// field.
	Finalizers *[]string
	// DeleteFinalizers (strategic only) removes these finalizers.
	DeleteFinalizers []string
	// DeletionTimestamp is for tests of what a user may try to write: 0 for null. Servers ignore or
	// refuse it.
	DeletionTimestamp *int64
	// Labels are merged by key.
	Labels map[string]string
	// TakeFinalizers (JSON only) removes single finalizers. Each is tested to be at its index.
	// Indexes must be descending, so that the remaining ones stay right. UID and ResourceVersion
	// are tested, too: a failed test returns 422 and nothing changes.
	TakeFinalizers []FinalizerAt
}

// FinalizerAt is a finalizer and its index in metadata.finalizers.
type FinalizerAt struct {
	Index int
	Name  string
}

// TakeFinalizers returns the patch that removes exactly these finalizers from the given version of
// the object, and nothing else. (spec §18, I8)
func TakeFinalizers(o *Object, names []string) Patch {
	p := Patch{Type: JSON, UID: o.UID, ResourceVersion: o.ResourceVersion}
	for i, name := range slices.Backward(o.Finalizers()) {
		if slices.Contains(names, name) {
			p.TakeFinalizers = append(p.TakeFinalizers, FinalizerAt{i, name})
		}
	}
	return p
}

type ownerBody struct {
	APIVersion         string    `json:"apiVersion"`
	Kind               string    `json:"kind"`
	Name               string    `json:"name"`
	UID                types.UID `json:"uid"`
	Controller         *bool     `json:"controller,omitempty"`
	BlockOwnerDeletion *bool     `json:"blockOwnerDeletion,omitempty"`
}

type deleteOwnerBody struct {
	Directive string    `json:"$patch"`
	UID       types.UID `json:"uid"`
}

// Body returns the patch as sent over the wire.
//
// Upstream: pkg/controller/garbagecollector/patch.go deleteOwnerRefJSONMergePatch,
// unblockOwnerReferencesStrategicMergePatch, unblockOwnerReferencesJSONMergePatch.
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Upstream: pkg/controller/controller_ref_manager.go GenerateDeleteOwnerRefStrategicMergeBytes.
// Upstream: pkg/controller/job/job_controller.go removeTrackingFinalizerPatch.
func (p Patch) Body() []byte {
	if p.Type == JSON {
		return encoded(p.operations())
	}
	meta := map[string]any{}
	if p.UID != "" {
		meta["uid"] = p.UID
	}
	if p.ResourceVersion != "" {
		meta["resourceVersion"] = p.ResourceVersion
	}
	var owners []any
	for _, uid := range p.DeleteOwners {
		owners = append(owners, deleteOwnerBody{"delete", uid})
	}
	for _, o := range p.MergeOwners {
		owners = append(owners, bodyOf(o))
	}
	if p.Owners != nil {
		for _, o := range *p.Owners {
			owners = append(owners, bodyOf(o))
		}
	}
	if owners != nil || p.Owners != nil {
		meta["ownerReferences"] = owners // nil marshals to null
	}
	if p.Finalizers != nil {
		meta["finalizers"] = orNull(*p.Finalizers)
	}
	if len(p.DeleteFinalizers) > 0 {
		meta["$deleteFromPrimitiveList/finalizers"] = p.DeleteFinalizers
	}
	if len(p.Labels) > 0 {
		meta["labels"] = p.Labels
	}
	return encoded(map[string]any{"metadata": meta})
}

func encoded(patch any) []byte {
	body, err := json.Marshal(patch)
	if err != nil {
		panic("object: a patch of plain strings did not marshal: " + err.Error())
	}
	return body
}

// operation is one operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}

// operations returns the operations of a JSON patch: tests first, then for each finalizer a test
// and its removal.
func (p Patch) operations() []operation {
	var list []operation
	if p.UID != "" {
		list = append(list, operation{"test", "/metadata/uid", string(p.UID)})
	}
	if p.ResourceVersion != "" {
		list = append(list, operation{"test", "/metadata/resourceVersion", p.ResourceVersion})
	}
	for _, f := range p.TakeFinalizers {
		at := "/metadata/finalizers/" + strconv.Itoa(f.Index)
		list = append(list, operation{"test", at, f.Name}, operation{"remove", at, ""})
	}
	return list
}

func orNull(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func bodyOf(o OwnerReference) ownerBody {
	return ownerBody{o.APIVersion, o.Kind, o.Name, o.UID, o.Controller.Bool(), o.BlockOwnerDeletion.Bool()}
}

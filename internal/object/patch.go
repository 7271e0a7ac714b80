package object

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
)

// PatchType is the media type of a patch.
type PatchType uint8

// The patch types that the collector sends (semantics.md §2.11).
const (
	// StrategicMerge is understood by built-in kinds only; custom resources
	// answer 415.
	StrategicMerge PatchType = iota
	Merge
)

// String is the media type as it stands in the Content-Type header.
func (t PatchType) String() string {
	if t == Merge {
		return string(types.MergePatchType)
	}
	return string(types.StrategicMergePatchType)
}

// Patch is a change of metadata as data. Body gives the bytes that a real server
// gets; a simulated one reads the fields. (semantics.md §3.12)
type Patch struct {
	Type PatchType
	// UID is metadata.uid of the body. A server refuses the patch with 422 when
	// the stored object has another one. Empty: not sent.
	UID types.UID
	// ResourceVersion is metadata.resourceVersion of the body. A server answers
	// 409 when the stored object has another one. Empty: not sent.
	ResourceVersion string

	// DeleteOwners (strategic only) removes all references with these UIDs.
	DeleteOwners []types.UID
	// MergeOwners (strategic only) is merged by UID into the first reference
	// with that UID, and appended when there is none.
	MergeOwners []OwnerReference
	// Owners (merge only) replaces the whole list; a pointer to an empty list
	// removes the field.
	Owners *[]OwnerReference
	// Finalizers replaces the whole list in a merge patch; a pointer to an empty
	// list removes the field.
	Finalizers *[]string
	// DeleteFinalizers (strategic only) removes these finalizers.
	DeleteFinalizers []string
	// DeletionTimestamp is what a user may try to write: 0 for null. Servers
	// ignore or refuse it.
	DeletionTimestamp *int64
	// Labels are merged by key.
	Labels map[string]string
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

// Body is the patch as it goes over the wire.
//
// Upstream: garbagecollector/patch.go, operations.go, job/job_controller.go
// removeTrackingFinalizerPatch.
func (p Patch) Body() []byte {
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
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		panic("object: a patch of plain strings did not marshal: " + err.Error())
	}
	return body
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

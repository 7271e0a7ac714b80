package facade

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Manifest is an object as JSON: its kind and its metadata, without labels.
func Manifest(o *object.Object) ([]byte, error) { return manifestOf(o, false) }

// manifestOf is an object as JSON: all that the simulated server knows of it.
func manifestOf(o *object.Object, partial bool) ([]byte, error) {
	m := metav1.ObjectMeta{
		Name: o.Name, Namespace: o.Namespace, UID: o.UID, ResourceVersion: o.ResourceVersion, Generation: o.Generation,
		CreationTimestamp: metav1.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Finalizers:        o.Finalizers(), DeletionGracePeriodSeconds: o.GracePeriod(),
	}
	if o.Lifecycle != nil && o.Lifecycle.Protection&object.Protect != 0 {
		m.Annotations = map[string]string{object.ProtectAnnotation: "true"}
	}
	for _, r := range o.Owners {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
			Controller: r.Controller.Bool(), BlockOwnerDeletion: r.BlockOwnerDeletion.Bool(),
		})
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(o.DeletionTimestamp(), 0).UTC()}
	}
	apiVersion, kind := o.APIVersion, o.Kind
	if partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": m})
}

// PatchOf reads the body of a patch. What no collector sends is an error.
func PatchOf(contentType string, body []byte) (object.Patch, error) {
	p := object.Patch{}
	switch {
	case strings.HasPrefix(contentType, string(types.JSONPatchType)):
		return operationsOf(body)
	case strings.HasPrefix(contentType, string(types.MergePatchType)):
		p.Type = object.Merge
	case !strings.HasPrefix(contentType, string(types.StrategicMergePatchType)):
		return p, fmt.Errorf("no patch of type %q is known here", contentType)
	}
	var b struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return object.Patch{}, err
	}
	for field, value := range b.Metadata {
		if err := setField(&p, field, value); err != nil {
			return p, fmt.Errorf("metadata.%s: %w", field, err)
		}
	}
	return p, nil
}

func setField(p *object.Patch, field string, value json.RawMessage) error {
	if field == "creationTimestamp" && string(value) == "null" {
		return nil // collectors up to v1.33 send it, and no server heeds it
	}
	switch field {
	case "uid":
		return json.Unmarshal(value, &p.UID)
	case "resourceVersion":
		return json.Unmarshal(value, &p.ResourceVersion)
	case "finalizers":
		p.Finalizers = &[]string{}
		return json.Unmarshal(value, p.Finalizers)
	case "ownerReferences":
		return setOwners(p, value)
	default:
		return fmt.Errorf("no collector sends this")
	}
}

func setOwners(p *object.Patch, value json.RawMessage) error {
	var list []struct {
		metav1.OwnerReference
		Directive string `json:"$patch"`
	}
	if err := json.Unmarshal(value, &list); err != nil {
		return err
	}
	owners := []object.OwnerReference{}
	for _, o := range list {
		if o.Directive == "delete" {
			p.DeleteOwners = append(p.DeleteOwners, o.UID)
			continue
		}
		owners = append(owners, object.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID,
			Controller: object.FlagOf(o.Controller), BlockOwnerDeletion: object.FlagOf(o.BlockOwnerDeletion),
		})
	}
	if p.Type == object.Merge {
		p.Owners = &owners
	} else {
		p.MergeOwners = owners
	}
	return nil
}

// operationsOf reads a JSON patch that takes finalizers off.
func operationsOf(body []byte) (object.Patch, error) {
	p := object.Patch{Type: object.JSON}
	var operations []struct{ Op, Path, Value string }
	if err := json.Unmarshal(body, &operations); err != nil {
		return p, err
	}
	for _, o := range operations {
		at, finalizer := strings.CutPrefix(o.Path, "/metadata/finalizers/")
		index, err := strconv.Atoi(at)
		switch {
		case o.Op == "test" && o.Path == "/metadata/uid":
			p.UID = types.UID(o.Value)
		case o.Op == "test" && o.Path == "/metadata/resourceVersion":
			p.ResourceVersion = o.Value
		case o.Op == "test" && finalizer && err == nil:
			p.TakeFinalizers = append(p.TakeFinalizers, object.FinalizerAt{Index: index, Name: o.Value})
		case o.Op == "remove" && finalizer:
		default:
			return p, fmt.Errorf("no collector sends %s of %s", o.Op, o.Path)
		}
	}
	return p, nil
}

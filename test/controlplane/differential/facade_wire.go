package differential

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// manifestOf is an object as JSON: all that the simulated server knows of it.
func manifestOf(o *object.Object, partial bool) ([]byte, error) {
	m := metadata{
		Name: o.Name, Namespace: o.Namespace, UID: string(o.UID), ResourceVersion: o.ResourceVersion,
		Generation: int(o.Generation), CreationTimestamp: "2026-01-01T00:00:00Z",
		Finalizers: o.Finalizers(), DeletionGracePeriodSeconds: o.GracePeriod(), OwnerReferences: ownersOf(o),
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = time.Unix(o.DeletionTimestamp(), 0).UTC().Format(time.RFC3339)
	}
	apiVersion, kind := o.APIVersion, o.Kind
	if partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": m})
}

// patchOf reads the body of a patch.
func patchOf(contentType string, body []byte) (object.Patch, error) {
	var b struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return object.Patch{}, err
	}
	p := object.Patch{}
	switch {
	case strings.HasPrefix(contentType, string(types.MergePatchType)):
		p.Type = object.Merge
	case !strings.HasPrefix(contentType, string(types.StrategicMergePatchType)):
		return p, fmt.Errorf("no patch of type %q is known here", contentType)
	}
	for field, value := range b.Metadata {
		if err := setField(&p, field, value); err != nil {
			return p, fmt.Errorf("metadata.%s: %w", field, err)
		}
	}
	return p, nil
}

func setField(p *object.Patch, field string, value json.RawMessage) error {
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
		ownerManifest
		Directive string `json:"$patch"`
	}
	if err := json.Unmarshal(value, &list); err != nil {
		return err
	}
	owners := []object.OwnerReference{}
	for _, o := range list {
		if o.Directive == "delete" {
			p.DeleteOwners = append(p.DeleteOwners, types.UID(o.UID))
			continue
		}
		owners = append(owners, object.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID),
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

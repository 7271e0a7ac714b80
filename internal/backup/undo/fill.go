package undo

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// isDefaultAccount reports whether the object is the default ServiceAccount, which a controller
// creates in every namespace and users add to.
//
// Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go DefaultServiceAccountsControllerOptions,
// syncNamespace.
func (n *node) isDefaultAccount() bool {
	return n.Object.Is(object.ServiceAccount) && n.Object.Name == "default"
}

// hasContent reports whether the object has more than its identity.
func (n *node) hasContent() bool {
	metadata, _ := n.content["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if !empty(metadata[field]) {
			return true
		}
	}
	return len(n.content) > 3 // apiVersion, kind, metadata
}

// Lacks returns a merge patch that adds the saved content which a concurrently created object
// lacks, with its UID and resourceVersion. It is nil if the object lacks nothing. other reports
// that a value conflicts with the saved one, or that an owner reference is missing: it is another
// object and must not be changed.
func (s *Step) Lacks(m *Mapping, raw []byte) (patch []byte, other bool, err error) {
	owners, _, err := m.resolve(s)
	if err != nil {
		return nil, false, err
	}
	there, err := ContentOf(raw)
	if err != nil {
		return nil, false, err
	}
	if lacksOwner(references(there), owners) {
		return nil, true, nil
	}
	add := map[string]any{}
	for field, value := range s.content {
		switch {
		case field == "metadata" || field == "status" || covers(there[field], value):
		case empty(there[field]):
			add[field] = value
		default:
			return nil, true, nil
		}
	}
	metadata, other := s.lacksMetadata(there)
	if other || len(add) == 0 && len(metadata) == 0 {
		return nil, other, nil
	}
	live, _ := there["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = live["uid"], live["resourceVersion"]
	add["metadata"] = metadata
	patch, err = json.Marshal(add)
	return patch, false, err
}

// LacksOwner reports whether an object lacks one of the references that the step would set.
func (s *Step) LacksOwner(m *Mapping, there *object.Object) bool {
	owners, _, err := m.resolve(s)
	return err != nil || lacksOwner(there.Owners, owners)
}

func lacksOwner(has, owners []object.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(o object.OwnerReference) bool {
		return !slices.ContainsFunc(has, func(h object.OwnerReference) bool { return h.UID == o.UID })
	})
}

// lacksMetadata returns the missing labels and annotations. Finalizers are not added to an object
// created by another client.
func (s *Step) lacksMetadata(there map[string]any) (add map[string]any, other bool) {
	add = map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		ours, _ := at(s.content, "metadata", field).(map[string]any)
		theirs, _ := at(there, "metadata", field).(map[string]any)
		missing := maps.Clone(ours)
		for key, value := range ours {
			if have, ok := theirs[key]; ok {
				if have != value {
					return nil, true
				}
				delete(missing, key)
			}
		}
		if len(missing) > 0 {
			add[field] = missing
		}
	}
	return add, false
}

// covers reports whether have contains everything in want. The server adds defaults to what it is
// sent.
func covers(have, want any) bool {
	wanted, isMap := want.(map[string]any)
	if !isMap {
		return reflect.DeepEqual(have, want)
	}
	fields, _ := have.(map[string]any)
	for key, value := range wanted {
		if !covers(fields[key], value) {
			return false
		}
	}
	return true
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}

// Fills reports whether a controller creates the object by itself, and missing content may be added
// to it.
func (s *Step) Fills() bool { return slices.Contains(s.Notes, reason.FilledIn) }

package evidence

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// World is all evidence. Add and Mark fill it, from one goroutine at a time; once
// filled it may be read from many. The lists are in the order in which the objects
// came.
type World struct {
	Namespaces  []Conditioned
	Definitions []Definition
	Nodes       []Node
	Pods        []Pod
	Services    []Service
	Backends    []Backend
	Workloads   []Workload
	Roles       []Role
	Bindings    []Binding
	Leases      []Lease
	APIServices []APIService
	Webhooks    []Webhook
	Policies    []Policy
	// PolicyBindings are the bindings of Policies.
	PolicyBindings []PolicyBinding
	Events         []Event
	// Terminating has one entry for each object, of whatever kind, that was added and is
	// being deleted, or has finalizers that will matter when it is.
	Terminating []Terminating

	sights map[Part]map[string]Sight
	// broken has of each part the first namespace, by its name, in which it was not read whole.
	broken map[Part]string
	added  map[identity]bool
}

// identity tells apart what was added.
type identity struct{ group, kind, namespace, name string }

// Conditioned is an object of which only the conditions are kept.
type Conditioned struct {
	Ref        object.Ref
	Conditions []Condition
}

// Terminating is what an object that is being deleted, or will be held by a finalizer
// then, shows beside what a snapshot keeps.
type Terminating struct {
	Ref object.Ref
	// Writers are those who own a finalizer, from managedFields.
	Writers []Writer
	// Conditions of the status, as far as it has them in the usual form.
	Conditions []Condition
	// Unread is why the object could not be read whole; its writers and conditions
	// are not known then.
	Unread string
}

// Unread says of an object that is being deleted that it could not be read whole.
func (w *World) Unread(ref object.Ref, why string) {
	w.Terminating = append(w.Terminating, Terminating{Ref: ref, Unread: why})
}

// Add takes in one object, given as JSON. The kind is needed where the JSON does not
// say it, as in the lists of an API server. An object that cannot be read makes its
// part incomplete; the error is then for whoever wants to tell.
func (w *World) Add(apiVersion, kind string, raw []byte) error {
	var b body
	err := decode(raw, &b)
	if b.APIVersion == "" {
		b.APIVersion = apiVersion
	}
	if b.Kind == "" {
		b.Kind = kind
	}
	s, isPart := sourceOf(b.APIVersion, b.Kind)
	if !isPart {
		s, isPart = sourceOf(apiVersion, kind)
	}
	if err == nil && b.Metadata.Name == "" {
		err = errors.New("it has no name")
	}
	if err == nil && !w.first(&b) {
		return nil
	}
	if err == nil && isPart {
		err = s.take(w, &b, raw)
	}
	if err == nil && (b.Metadata.DeletionTimestamp != nil || len(b.Metadata.Finalizers) > 0) {
		err = w.takeTerminating(&b, raw)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", b.ref(), err)
		if isPart {
			w.Mark(s.part, b.Metadata.Namespace, "an object could not be read: "+err.Error())
		}
	}
	return err
}

// first reports whether the object was not added before.
func (w *World) first(b *body) bool {
	id := identity{object.GroupOf(b.APIVersion), b.Kind, b.Metadata.Namespace, b.Metadata.Name}
	if id.kind == "Event" {
		id.group = ""
	}
	if w.added[id] {
		return false
	}
	if w.added == nil {
		w.added = map[identity]bool{}
	}
	w.added[id] = true
	return true
}

// body is what all objects have in common.
type body struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               types.UID         `json:"uid"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp *stamp            `json:"deletionTimestamp"`
		Finalizers        []string          `json:"finalizers"`
		OwnerReferences   []owner           `json:"ownerReferences"`
	} `json:"metadata"`
}

type owner struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	Controller bool      `json:"controller"`
}

func (b *body) ref() object.Ref {
	m := &b.Metadata
	return object.Ref{APIVersion: b.APIVersion, Kind: b.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

// controller is the owner that controls the object; empty without one.
func (b *body) controller() object.Ref {
	for _, o := range b.Metadata.OwnerReferences {
		if o.Controller {
			return object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: b.Metadata.Namespace, Name: o.Name, UID: o.UID}
		}
	}
	return object.Ref{}
}

// decode takes names of fields as they are written, as an API server does.
func decode(raw []byte, into any) error {
	return json.UnmarshalCaseSensitivePreserveInts(raw, into)
}

package report

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"k8s.io/apimachinery/pkg/types"
)

// Graph is the graph of owners and dependents.
type Graph struct {
	Header

	Source Source `json:"source"`
	// Namespace is the namespace that was asked for, with its content; empty for all.
	Namespace string `json:"namespace,omitempty"`
	// Roots are the objects that were asked for; empty for the whole graph.
	Roots []object.Ref `json:"roots"`
	Nodes []Node       `json:"nodes"`
	// Edges are sorted by dependent and owner.
	Edges    []Edge `json:"edges"`
	Complete bool   `json:"complete"`
	Gaps     []Gap  `json:"gaps"`
	// Unlisted are the objects below the roots whose controllers delete others with them that the graph
	// lacks.
	Unlisted []Unlisted `json:"unlisted,omitempty"`
}

// Node is an object that was seen, or that is only referred to.
type Node struct {
	Ref object.Ref `json:"ref"`
	// Virtual: only referred to, never seen.
	Virtual bool `json:"virtual"`
	// Observed: seen in the snapshot.
	Observed             bool     `json:"observed"`
	BeingDeleted         bool     `json:"beingDeleted"`
	WaitingForDependents bool     `json:"waitingForDependents"`
	Finalizers           []string `json:"finalizers,omitempty"`
	// Created is when the object was created, in RFC 3339; absent if unknown.
	Created string `json:"created,omitempty"`
	// Missing: a vertex that only an edge names (see the upstream format).
	Missing bool `json:"missing,omitempty"`
}

// Edge is one owner reference, or all other references from one object to another one.
type Edge struct {
	Dependent          types.UID `json:"dependent"`
	Owner              types.UID `json:"owner"`
	Controller         bool      `json:"controller"`
	BlockOwnerDeletion bool      `json:"blockOwnerDeletion"`
	Class              Class     `json:"class"`
	// Use names the fields of the dependent that refer to the owner. It is empty for an owner
	// reference.
	Use string `json:"use,omitempty"`
}

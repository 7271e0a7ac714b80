package report

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Breakage is an object that stays and stops working, because a field of it refers to an object that
// goes.
type Breakage struct {
	// Object has no name if it stands for the objects of its kind that are created later.
	Object object.Ref `json:"object"`
	// Field is the path of the field: spec.tls[].secretName. Label is a short name of it.
	Field string `json:"field"`
	Label string `json:"label"`
	// Reference is the object that goes, or a Service that stays and loses all its pods.
	Reference object.Ref   `json:"reference"`
	When      BreakageTime `json:"when"`
	Certainty Certainty    `json:"certainty"`
	// ClusterWide is true if requests of the whole cluster fail: those that a webhook must admit, and
	// those of an API group.
	ClusterWide bool `json:"clusterWide,omitempty"`
	// Message says what no longer works.
	Message string `json:"message"`
}

// Text says what breaks, and why.
func (b *Breakage) Text() string {
	if b.Object.Name == "" {
		return b.Reference.ShortName() + " (" + b.Label + "): " + b.Message
	}
	text := b.Object.ShortName()
	if b.Object.Namespace != "" {
		text += " -n " + b.Object.Namespace
	}
	return text + ": " + b.Reference.ShortName() + " (" + b.Label + "): " + b.Message
}

// DefaultClass is the label of the breakages of objects that name no class.
const DefaultClass = "default class"

// BreakageTime is when an object stops working, after what it refers to has gone.
type BreakageTime string

// The times, the worst first.
const (
	// BreaksNow: at once.
	BreaksNow BreakageTime = "now"
	// BreaksNextWrite: when it is written next.
	BreaksNextWrite BreakageTime = "nextWrite"
	// BreaksNextStart: when a pod or container of it starts next. Running ones go on.
	BreaksNextStart BreakageTime = "nextStart"
	// BreaksNextReconcile: when its controller looks at it next.
	BreaksNextReconcile BreakageTime = "nextReconcile"
	// BreaksNever: it works without.
	BreaksNever BreakageTime = "never"
)

// BreakageTimes returns the times, the worst first.
func BreakageTimes() []BreakageTime {
	return []BreakageTime{BreaksNow, BreaksNextWrite, BreaksNextStart, BreaksNextReconcile, BreaksNever}
}

// Referrer is an object with a field that refers to another one.
type Referrer struct {
	Object object.Ref   `json:"object"`
	Field  string       `json:"field"`
	Label  string       `json:"label"`
	When   BreakageTime `json:"when"`
	// Optional is true if the object says that it works without.
	Optional bool `json:"optional,omitempty"`
	// Certainty is Unknown if only the name of the field says that it refers to the object.
	Certainty Certainty `json:"certainty"`
}

// Expiry says that a controller or server deletes an object in time, without a request.
type Expiry struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// By is the controller or server that deletes it.
	By string `json:"by"`
	// Certainty is Sure if only time has to pass, Possible if it also depends on later events, and Undecided
	// if it depends on something that was not read.
	Certainty Certainty `json:"certainty"`
	// NotBefore is the earliest time of the delete, in RFC 3339; empty if unknown.
	NotBefore string `json:"notBefore,omitempty"`
	// With is the object with which it goes, if not by itself.
	With    *object.Ref `json:"with,omitempty"`
	Message string      `json:"message"`
}

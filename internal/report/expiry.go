package report

import "github.com/kubectl-gc/kubectl-gc/internal/object"

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

package object

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
)

// UnknownKindError says that an apiVersion and kind do not map to a served resource. The collector
// retries such a reference forever and keeps the object. (spec §3.11, Q6)
type UnknownKindError struct {
	APIVersion string
	Kind       string
}

// Error returns the kind.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("no resource is served for apiVersion %q, kind %q", e.APIVersion, e.Kind)
}

// UncoveredError says that the snapshot doesn't cover the resource and namespace of the requested
// object: it may or may not exist. It is never proof of absence.
type UncoveredError struct {
	Ref Ref
	// Why is the reason of the gap, for people; "" if unknown.
	Why string
}

// Error returns the object and the gap.
func (e *UncoveredError) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("%s: not covered by the snapshot", e.Ref)
	}
	return fmt.Sprintf("%s: not covered by the snapshot: %s", e.Ref, e.Why)
}

// WithoutCode returns the reason of a gap without its code: "you may not list it" for "Forbidden: you may
// not list it".
func WithoutCode(why string) string {
	if _, text, ok := strings.Cut(why, ": "); ok {
		return text
	}
	return why
}

// WhyUncovered returns why a snapshot does not cover an object. For another error it returns the message.
func WhyUncovered(err error) string {
	if uncovered, ok := errors.AsType[*UncoveredError](err); ok {
		return WithoutCode(uncovered.Why)
	}
	return err.Error()
}

// NamespaceRequiredError says that an object of a namespaced kind was requested without a
// namespace: a cluster-scoped dependent refers to a namespaced owner. The collector drops the
// attempt without a request and without a retry. (Q3, Q5)
type NamespaceRequiredError struct {
	Ref Ref
}

// Error returns the reference.
func (e *NamespaceRequiredError) Error() string {
	return fmt.Sprintf("%s: a cluster-scoped object cannot refer to a namespaced owner", e.Ref)
}

// Answer is the kind of answer to a GET by the name in an owner reference. The name is free text,
// and the garbage collector's client puts it unescaped into the path.
//
// Upstream: client-go/metadata/metadata.go client.makeURLSegments.
// Upstream: client-go/rest/request.go Request.AbsPath: joins and cleans.
// Rule: spec Q31.
type Answer uint8

// The answers.
const (
	// OfThatName is the object with that name, or 404.
	OfThatName Answer = iota
	// NothingThere is 404 because no such path is served. No object can have the name.
	NothingThere
	// SomethingElse is an error, or an answer about something else.
	SomethingElse
)

// AnswerTo returns the kind of answer to a GET of a resource by name.
func AnswerTo(r Resource, name string) Answer {
	if IsPossibleName(name) {
		return OfThatName
	}
	segments := strings.Split(name, "/")
	for _, s := range segments {
		if s == "" || !IsPossibleName(s) {
			return SomethingElse
		}
	}
	if subresources[segments[1]] || r.GroupResource() == Namespace.GroupResource() {
		return SomethingElse
	}
	return NothingThere
}

// IsPossibleName reports whether an object can have the name: it must be a single path segment.
func IsPossibleName(name string) bool { return len(path.IsValidPathSegmentName(name)) == 0 }

// subresources are served below the path of an object of some kinds.
var subresources = map[string]bool{
	"approval": true, "attach": true, "binding": true, "ephemeralcontainers": true, "eviction": true, "exec": true, "finalize": true,
	"log": true, "portforward": true, "proxy": true, "resize": true, "scale": true, "status": true, "token": true,
}

// ImpossibleNameError says that no object can have the requested name. (Q31)
type ImpossibleNameError struct {
	Name string
	// Absent is true if the answer is 404: the garbage collector treats the owner as absent.
	Absent bool
}

// Error returns the name.
func (e *ImpossibleNameError) Error() string {
	return fmt.Sprintf("no object can have the name %q", e.Name)
}

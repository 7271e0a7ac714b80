package object

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// Answer is what a GET finds by the name of an owner. The name in a reference is free text, of
// which the garbage collector's client makes a path as it is.
//
// Upstream: client-go/metadata/metadata.go client.makeURLSegments.
// Upstream: client-go/rest/request.go Request.AbsPath: joins and cleans.
// Rule: spec Q31.
type Answer uint8

// The answers.
const (
	// OfThatName is the object of that name, or 404.
	OfThatName Answer = iota
	// NothingThere is 404, because nothing is served at such a path. No object can have the name.
	NothingThere
	// SomethingElse is an error, or an answer to another question.
	SomethingElse
)

// AnswerTo is the answer to a GET for a name among the objects of a resource.
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

// IsPossibleName reports whether an object can have a name: whether it is one part of a path.
func IsPossibleName(name string) bool { return len(content.IsPathSegmentName(name)) == 0 }

// subresources are served below the path of an object, of some kinds.
var subresources = map[string]bool{
	"approval": true, "attach": true, "binding": true, "ephemeralcontainers": true, "eviction": true, "exec": true, "finalize": true,
	"log": true, "portforward": true, "proxy": true, "resize": true, "scale": true, "status": true, "token": true,
}

// ImpossibleNameError says that no object can have the name that was asked for. (Q31)
type ImpossibleNameError struct {
	Name string
	// Absent: the answer is 404, for the garbage collector an owner that is absent.
	Absent bool
}

// Error says the name.
func (e *ImpossibleNameError) Error() string {
	return fmt.Sprintf("no object can have the name %q", e.Name)
}

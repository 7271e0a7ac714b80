package snapshot

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ProblemKind classifies a Problem.
type ProblemKind string

// The kinds of problems. Documented in docs/reasons.md.
const (
	// DuplicateUID: two different objects have the same UID.
	DuplicateUID ProblemKind = "DuplicateUID"
	// Replaced: the same coordinates were seen with two UIDs; the object with the newer
	// resourceVersion was kept.
	Replaced ProblemKind = "Replaced"
	// NoUID: objects without a UID; one was made up (see MissingUID).
	NoUID ProblemKind = "NoUID"
	// WrongScope: a namespaced object without a namespace, or a cluster-scoped one with one. The
	// resource is then not covered.
	WrongScope ProblemKind = "WrongScope"
	// Unread: a file could not be read completely and was left out.
	Unread ProblemKind = "Unread"
	// StaleDiscovery: the discovery documents are incomplete.
	StaleDiscovery ProblemKind = "StaleDiscovery"
	// MisnamedFile: a file is named after one resource and lists another.
	MisnamedFile ProblemKind = "MisnamedFile"
	// NoObject: documents, or a whole input, that are no objects and were skipped.
	NoObject ProblemKind = "NoObject"
)

// Problem is a remark on the input that doesn't stop the reading.
type Problem struct {
	Kind ProblemKind
	// Object is the object of the remark, or the first of several.
	Object object.Ref
	// File is set for remarks about files.
	File    string
	Message string
}

func compareProblems(a, b Problem) int {
	return cmp.Or(
		strings.Compare(string(a.Kind), string(b.Kind)),
		object.Compare(a.Object, b.Object),
		strings.Compare(a.File, b.File),
		strings.Compare(a.Message, b.Message),
	)
}

// tally counts remarks of one kind about one resource, so that a dump with the same flaw in every
// object gets one line and not a million.
type tally struct {
	first object.Ref
	count int
}

func (t *tally) add(r object.Ref) {
	if t.count == 0 || object.Compare(r, t.first) < 0 {
		t.first = r
	}
	t.count++
}

func (t *tally) problem(kind ProblemKind, what string) Problem {
	message := fmt.Sprintf("%s %s", printable(t.first), what)
	if t.count > 1 {
		message = fmt.Sprintf("%s, and so do %d more objects of this kind", message, t.count-1)
	}
	return Problem{Kind: kind, Object: t.first, Message: message}
}

// printable returns a reference that is safe to print: names in a dump are foreign text.
func printable(r object.Ref) string {
	s := r.String()
	if q := fmt.Sprintf("%q", s); q != `"`+s+`"` {
		return q
	}
	return s
}

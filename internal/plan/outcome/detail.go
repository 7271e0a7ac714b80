package outcome

import (
	"errors"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// detailOf returns what err adds to the text of its reason; empty if it adds nothing.
func detailOf(err error) string {
	var unknown *object.UnknownKindError
	var uncovered *object.UncoveredError
	var scope *object.NamespaceRequiredError
	switch {
	case err == nil, errors.As(err, &unknown), errors.As(err, &scope):
		return ""
	case errors.As(err, &uncovered):
		return PlainWhy(uncovered.Why)
	default:
		return err.Error()
	}
}

// PlainWhy returns the reason of a gap without its code, for use where a text follows.
func PlainWhy(why string) string {
	if _, text, ok := strings.Cut(why, ": "); ok {
		return text
	}
	return why
}

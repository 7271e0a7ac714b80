package scenario

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Answer is what a request got, on one line: `ok`, or code, reason and message.
func Answer(err error) string {
	var status apierrors.APIStatus
	var unknown *object.UnknownKindError
	var uncovered *object.UncoveredError
	var scope *object.NamespaceRequiredError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &status):
		s := status.Status()
		text := fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
		if s.Details != nil && len(s.Details.Causes) == 1 && s.Details.Causes[0].Type == "NamespaceTerminating" {
			text += " (cause NamespaceTerminating)"
		}
		return text
	case errors.As(err, &unknown):
		return "unknown kind: " + err.Error()
	case errors.As(err, &uncovered):
		return "not covered: " + err.Error()
	case errors.As(err, &scope):
		return "namespace required: " + err.Error()
	default:
		return "error: " + err.Error()
	}
}

func uid(s string) types.UID { return types.UID(s) }

package backup

import (
	"errors"
	"net"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// JournalError reports that a request or its result could not be written to the journal. No further
// request may be sent.
type JournalError struct{ Err error }

// Error names the journal and the underlying error.
func (e *JournalError) Error() string { return "the journal: " + e.Err.Error() }

// Unwrap returns the underlying error.
func (e *JournalError) Unwrap() error { return e.Err }

// ResultOf classifies the error of a write; the caller sets the time. A 4xx answer and a request
// that never left this machine are Refused. No answer, an unreadable answer and a 5xx are Unknown,
// since the request may have been carried out. So is a 404, 409, 412 or 422 to a retried request:
// the first attempt may have succeeded and caused it.
func ResultOf(err error) Result {
	if err == nil {
		return Result{Outcome: Confirmed}
	}
	r := Result{Outcome: Unknown, Message: err.Error()}
	var status apierrors.APIStatus
	var unserved *kube.UnservedPathError
	var dial *net.OpError
	switch {
	case errors.As(err, &status):
		r.Code = int(status.Status().Code)
		if r.Code >= http.StatusBadRequest && r.Code < http.StatusInternalServerError && !mayFollowOurs(err, r.Code) {
			r.Outcome = Refused
		}
	case errors.As(err, &unserved):
		r.Code, r.Outcome = http.StatusNotFound, Refused
	case errors.As(err, &dial) && dial.Op == "dial", neverSent(err):
		r.Outcome = Refused
	}
	return r
}

// mayFollowOurs reports whether an answer may be caused by an earlier attempt of the same request
// that deleted or changed the object.
func mayFollowOurs(err error, code int) bool {
	switch code {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return Repeated(err)
	default:
		return false
	}
}

// Repeated reports whether a request was sent more than once before this answer.
func Repeated(err error) bool {
	_, repeated := errors.AsType[*kube.RepeatedError](err)
	return repeated
}

// neverSent reports whether the request could not even be built.
func neverSent(err error) bool {
	var kind *object.UnknownKindError
	var namespace *object.NamespaceRequiredError
	var uncovered *object.UncoveredError
	return errors.As(err, &kind) || errors.As(err, &namespace) || errors.As(err, &uncovered)
}

package backup

import (
	"errors"
	"net"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// JournalError says that a request could not be written down, or its result not:
// no further one may be sent.
type JournalError struct{ Err error }

// Error says what could not be written.
func (e *JournalError) Error() string { return "the journal: " + e.Err.Error() }

// Unwrap is what could not be written.
func (e *JournalError) Unwrap() error { return e.Err }

// ResultOf classifies the answer to a write, without the time. A server that
// answers that it did nothing, and a request that never left this machine, are
// refusals; silence, an answer that nobody understands, and a failure of the
// server itself say nothing of what was done. Neither does the answer to a request that was sent
// again: the first attempt may have been carried out, and the answer may be its result.
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

// mayFollowOurs reports whether an answer may be the result of an earlier attempt of the same request,
// which has deleted or changed the object.
func mayFollowOurs(err error, code int) bool {
	switch code {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return Repeated(err)
	default:
		return false
	}
}

// Repeated reports whether an answer is the last of several to the same request.
func Repeated(err error) bool {
	_, repeated := errors.AsType[*kube.RepeatedError](err)
	return repeated
}

// neverSent reports whether no request could even be made.
func neverSent(err error) bool {
	var kind *object.UnknownKindError
	var namespace *object.NamespaceRequiredError
	var uncovered *object.UncoveredError
	return errors.As(err, &kind) || errors.As(err, &namespace) || errors.As(err, &uncovered)
}

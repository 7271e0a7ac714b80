package backup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestResultOf(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, x := range []struct {
		err  error
		want Outcome
		code int
	}{
		{nil, Confirmed, 0},
		{apierrors.NewConflict(pods, "web", errors.New("other")), Refused, 409},
		{apierrors.NewNotFound(pods, "web"), Refused, 404},
		{fmt.Errorf("web: %w", apierrors.NewForbidden(pods, "web", nil)), Refused, 403},
		{apierrors.NewTooManyRequests("later", 1), Refused, 429},
		{apierrors.NewInternalError(errors.New("etcd")), Unknown, 500},
		{apierrors.NewTimeoutError("slow", 1), Unknown, 504},
		{apierrors.NewServiceUnavailable("down"), Unknown, 503},
		{&kube.RepeatedError{Err: apierrors.NewNotFound(pods, "web")}, Unknown, 404},
		{&kube.RepeatedError{Err: apierrors.NewConflict(pods, "web", errors.New("other"))}, Unknown, 409},
		{&kube.RepeatedError{Err: apierrors.NewForbidden(pods, "web", nil)}, Refused, 403},
		{&kube.RepeatedError{Err: apierrors.NewTooManyRequests("later", 1)}, Refused, 429},
		{&kube.UnservedPathError{About: "pods"}, Refused, 404},
		{&kube.UnexpectedAnswerError{About: "pods"}, Unknown, 0},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, Refused, 0},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, Unknown, 0},
		{context.DeadlineExceeded, Unknown, 0},
		{context.Canceled, Unknown, 0},
		{&object.UnknownKindError{}, Refused, 0},
	} {
		if got := ResultOf(x.err); got.Outcome != x.want || got.Code != x.code {
			t.Errorf("%v: got %s %d, want %s %d", x.err, got.Outcome, got.Code, x.want, x.code)
		}
	}
}

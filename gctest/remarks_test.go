package gctest_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

var errNoConversion = errors.New("no conversion")

// A kind that cannot be read, as one whose conversion webhook does not answer, is no failure of
// Start: it is remarked, and nothing settles before it can be read.
func TestKindThatCannotBeRead(t *testing.T) {
	s := serve()
	var mended atomic.Bool
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if mended.Load() || !strings.HasSuffix(r.URL.Path, "/secrets") {
			return false
		}
		facade.Refuse(w, apierrors.NewInternalError(errNoConversion))
		return true
	}
	t.Cleanup(s.close)
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		mentions(t, strings.Join(a.said, "\n"), "nothing settles until this is mended", "secrets cannot be read", "no conversion")
		text := unsettled(t, gc, "left to do: secrets cannot be read: ").Error()
		if n := strings.Count(text, "no conversion"); n != 1 {
			t.Errorf("why it cannot be read is said %d times:\n%s", n, text)
		}
		mended.Store(true)
		if err := gc.WaitSettled(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if a.failed {
		t.Error(said)
	}
}

// An APIService whose server does not answer is named, with what to do.
func TestAPIServiceWithoutServer(t *testing.T) {
	away := object.Resource{Group: "metrics.example.com", Version: "v1", Name: "nodes", Kind: "NodeMetrics", Verbs: object.AllVerbs}
	services := object.APIService.Resource()
	services.Verbs = object.AllVerbs
	registered := &object.Object{Ref: object.APIService.Ref("", "v1.metrics.example.com")}
	registered.UID = "registered"
	s := serveAlso([]object.Resource{services, away}, []string{away.APIVersion()}, registered)
	t.Cleanup(s.close)
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		_ = unsettled(t, gc, "left to do: apiregistration.k8s.io/v1 APIService v1.metrics.example.com: its server does not answer: start it, or delete the APIService")
	})
	mentions(t, said, "nothing settles until this is mended: ", "APIService v1.metrics.example.com")
}

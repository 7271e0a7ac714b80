package gctest_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

var errNoConversion = errors.New("no conversion")

// A kind that cannot be read, for example because its conversion webhook does not answer, does not
// fail Start: it is logged as a remark, and nothing settles before it can be read.
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

// The error and the remark name an APIService whose server does not answer, and the remedy.
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

// The error at a deadline says once, as a sentence, what blocks a namespace.
func TestNamespaceRefused(t *testing.T) {
	s := serve(configMap("refused", ""), configMap("held", "", "example.com/held"))
	s.before = refusing("/configmaps")
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if err := s.Change(func() error {
		return s.Sim.Delete(t.Context(), object.Namespace.Ref("", "shop"), metav1.DeleteOptions{})
	}); err != nil {
		t.Fatal(err)
	}
	const why = "configmaps held, refused cannot be deleted: "
	text := unsettled(t, gc, "left to do: v1 Namespace shop: "+why).Error()
	if n := strings.Count(text, "nobody may"); n != 1 {
		t.Errorf("why is said %d times:\n%s", n, text)
	}
	said := gc.Explain(ns)
	mentions(t, said, "v1 Namespace shop is being deleted", why)
	if strings.Contains(said, "goes if") || strings.Contains(said, "controller") {
		t.Errorf("it speaks of controllers that are not there:\n%s", said)
	}
}

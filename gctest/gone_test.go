package gctest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// WaitGone returns once the objects are deleted, and otherwise explains those that are left.
func TestWaitGone(t *testing.T) {
	s := serve(configMap("owner", ""), configMap("goes", "owner"), configMap("held", "owner", "example.com/held"), configMap("stays", ""))
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	s.remove(t, "owner")
	if err := gc.WaitGone(t.Context(), asked("owner"), asked("goes")); err != nil {
		t.Fatal(err)
	}
	other := asked("stays")
	other.UID = "of an earlier one"
	if err := gc.WaitGone(t.Context(), other); err != nil {
		t.Errorf("another object has its name: %v", err)
	}
	of := &widget{*asked("goes")} // found by its uid alone
	of.UID = "uid-goes"
	if err := gc.WaitGone(t.Context(), of); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := gc.WaitGone(ctx, asked("goes"), asked("held"), asked("stays"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("with objects that stay: %v", err)
	}
	mentions(t, err.Error(), "gctest: not gone after ", "\n  v1 ConfigMap shop/held is being deleted", "example.com/held", "\n  v1 ConfigMap shop/stays stays")
	if strings.Contains(err.Error(), "shop/goes") {
		t.Errorf("an object that is gone is left:\n%v", err)
	}
	for name, c := range map[string]struct {
		object gctest.Object
		want   string
	}{"nil": {nil, "It is nil"}, "nothing": {asked(""), "neither a uid nor a name"}} {
		if err := gc.WaitGone(t.Context(), c.object); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error is printed once by Gomega: the second time it is the first line.
func TestGomegaString(t *testing.T) {
	s := serve(configMap("stays", ""))
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := gc.WaitGone(ctx, asked("stays"))
	short, ok := err.(interface{ GomegaString() string }) //nolint:errorlint // as Gomega does
	if !ok || strings.Contains(short.GomegaString(), "\n") || !strings.HasPrefix(short.GomegaString(), "gctest: not gone after") {
		t.Errorf("%v", err)
	}
}

// Every delete is in the log of the test with its reason, and Explain has it, too.
func TestDeletesAreLogged(t *testing.T) {
	s := serve(configMap("owner", ""), configMap("goes", "owner"))
	t.Cleanup(s.close)
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		s.remove(t, "owner")
		if err := gc.WaitGone(t.Context(), asked("goes")); err != nil {
			t.Error(err)
		}
		mentions(t, gc.Explain(asked("goes")), "v1 ConfigMap shop/goes is not there: deleted by gctest at ", "owner v1 ConfigMap shop/owner (uid uid-owner) doesn't exist")
		if text := gc.Explain(asked("owner")); text != "v1 ConfigMap shop/owner is not there." {
			t.Errorf("of an object that the test deleted it is said: %s", text)
		}
	})
	mentions(t, said, "gctest: v1 ConfigMap shop/goes deleted by gctest at ", "owner v1 ConfigMap shop/owner (uid uid-owner) doesn't exist")
}

// The end of an object that the test deleted is in the log, too, if the collector let it go.
func TestReleasesAreLogged(t *testing.T) {
	goes := configMap("goes", "foreground")
	goes.Owners[0].BlockOwnerDeletion = object.True
	s := serve(configMap("foreground", ""), goes, configMap("orphaning", ""), configMap("stays", "orphaning"))
	t.Cleanup(s.close)
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		for name, policy := range map[string]metav1.DeletionPropagation{"foreground": metav1.DeletePropagationForeground, "orphaning": metav1.DeletePropagationOrphan} {
			if err := s.Change(func() error {
				return s.Sim.Delete(t.Context(), configMap(name, "").Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
			}); err != nil {
				t.Error(err)
			}
			if err := gc.WaitGone(t.Context(), asked(name)); err != nil {
				t.Error(err)
			}
		}
		mentions(t, gc.Explain(asked("foreground")), "v1 ConfigMap shop/foreground is not there: finalizer foregroundDeletion removed by gctest at ", ": no dependent blocks its deletion.")
		mentions(t, gc.Explain(asked("goes")), "v1 ConfigMap shop/goes is not there: deleted by gctest at ", "is being deleted and waits for its dependents")
	})
	mentions(t, said, "gctest: v1 ConfigMap shop/foreground: finalizer foregroundDeletion removed by gctest at ",
		"gctest: v1 ConfigMap shop/orphaning: finalizer orphan removed by gctest at ", ": no dependent refers to it")
}

// At the end there is a remark for an object that was created again after each delete.
func TestRecreated(t *testing.T) {
	s := serve(configMap("owner", ""))
	t.Cleanup(s.close)
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		for i := range 4 {
			o := configMap("again", "owner")
			o.UID, o.Owners[0].UID = types.UID(fmt.Sprint("again-", i)), "made-up"
			if err := s.Change(func() error {
				_, err := s.Sim.Create(t.Context(), o)
				return err
			}); err != nil {
				t.Error(err)
			}
			if err := gc.WaitGone(t.Context(), asked("again")); err != nil {
				t.Error(err)
			}
		}
	})
	mentions(t, said, "v1 ConfigMap shop/again was deleted and created again 4 times; the last one was deleted by gctest at ",
		"owner v1 ConfigMap shop/owner (uid made-up) doesn't exist: the object of that name has the uid uid-owner")
}

// A collector without a test logs to the given function, and ends by Stop, which may be called again.
func TestWithoutTest(t *testing.T) {
	s := serve(configMap("goes", "nobody"), configMap("stays", ""))
	t.Cleanup(s.close)
	var mu sync.Mutex
	var said []string
	gc, err := gctest.New(s.config(), gctest.WithLog(func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, args...))
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := gc.Stop(); err != nil {
			t.Error(err)
		}
	}
	mentions(t, strings.Join(said, "\n"), "gctest: v1 ConfigMap shop/goes deleted by gctest at ")
	if err := gc.WaitSettled(t.Context()); err == nil || !strings.Contains(err.Error(), "the garbage collector has ended") {
		t.Errorf("after Stop: %v", err)
	}
	if err := gc.WaitGone(t.Context(), asked("stays")); err == nil {
		t.Error("WaitGone after Stop succeeds")
	}
	if _, err := gctest.New(nil); err == nil || !strings.Contains(err.Error(), "the config is nil") {
		t.Errorf("without a config: %v", err)
	}
}

// A pod ends the given time after it was deleted, whatever its grace period.
func TestPodsAfter(t *testing.T) {
	pods := object.Pod.Resource()
	pods.Verbs = object.AllVerbs
	pod := &object.Object{Ref: object.Pod.Ref("shop", "web")}
	pod.UID = "web"
	grace := int64(3600)
	pod.Edit().Facts = &object.PodFacts{NodeName: "node", TerminationGracePeriod: &grace}
	s := serveAlso([]object.Resource{pods}, nil, pod)
	t.Cleanup(s.close)
	const lasts = 400 * time.Millisecond
	gc := gctest.Start(t, s.config(), gctest.WithPodsAfter(lasts))
	began := time.Now()
	if err := s.Change(func() error { return s.Sim.Delete(t.Context(), pod.Ref.WithoutUID(), metav1.DeleteOptions{}) }); err != nil {
		t.Fatal(err)
	}
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < lasts {
		t.Errorf("settled after %s", took)
	}
	if text := gc.Explain(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}); !strings.Contains(text, "is not there: deleted by gctest at ") || !strings.Contains(text, "no kubelet ends it") {
		t.Error(text)
	}
}

// The API server may be restarted within a test.
func TestRestart(t *testing.T) {
	s := serve(configMap("owner", ""), configMap("goes", "owner"))
	gc := gctest.Start(t, s.config())
	address := s.front.Listener.Addr().String()
	s.close()
	s.remove(t, "owner") // nobody sees it
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(s)
	_ = front.Listener.Close()
	front.Listener = listener
	front.Start()
	s.front = front
	t.Cleanup(func() {
		if err := gc.Stop(); err != nil {
			t.Error(err)
		}
		s.close()
	})
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.there(); got != "" {
		t.Errorf("there are %s", got)
	}
}

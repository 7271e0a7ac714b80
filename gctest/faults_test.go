package gctest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Requests to a server that fails for a while are retried.
func TestServerFails(t *testing.T) {
	for name, code := range map[string]int{"an error": http.StatusInternalServerError, "a proxy's error": http.StatusBadGateway} {
		t.Run(name, func(t *testing.T) {
			s := serve(configMap("owner", ""), configMap("dependent", "owner"))
			var left atomic.Int32
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				// WaitSettled sends this request first.
				if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces" || r.URL.Query().Get("watch") != "" || left.Load() == 0 {
					return false
				}
				left.Add(-1)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, "not now")
				return true
			}
			t.Cleanup(s.close)
			gc := gctest.Start(t, s.config())
			s.remove(t, "owner")
			left.Store(5)
			if err := gc.WaitSettled(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := left.Load(); n > 0 {
				t.Errorf("the server would have failed %d times more", n)
			}
			if got := s.there(); got != "" {
				t.Errorf("there are %s", got)
			}
		})
	}
}

// The error at the deadline names the unanswered request.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		silent func(*http.Request) bool
		want   string
	}{
		"a list": {func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets")
		}, "secrets cannot be read: no answer in time"},
		"the first question": {func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/namespaces")
		}, "namespaces cannot be read: no answer in time"},
		"a delete": {func(r *http.Request) bool {
			return r.Method == http.MethodDelete
		}, "no answer yet to DELETE /api/v1/namespaces/shop/configmaps/dependent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(configMap("owner", ""), configMap("dependent", "owner"))
			ends := make(chan struct{})
			var armed atomic.Bool
			s.before = func(_ http.ResponseWriter, r *http.Request) bool {
				if !armed.Load() || !c.silent(r) {
					return false
				}
				select {
				case <-ends:
				case <-r.Context().Done():
				}
				return true
			}
			t.Cleanup(s.close)
			t.Cleanup(func() { close(ends) })
			gc := gctest.Start(t, s.config())
			armed.Store(true)
			s.remove(t, "owner")
			_ = unsettled(t, gc, "not settled after", c.want) // which fails where it is settled
		})
	}
}

// The timeout of a config must not end a watch, which is also one request.
func TestTimeoutOfConfig(t *testing.T) {
	s := serve(configMap("dependent", "nobody"))
	t.Cleanup(s.close)
	config := s.config()
	config.Timeout = time.Nanosecond
	gc := gctest.Start(t, config)
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.there(); got != "" {
		t.Errorf("there are %s", got)
	}
}

// widget is a type that client-go does not know, like those of an operator.
type widget struct{ corev1.ConfigMap }

// Explain returns a helpful text for any argument.
func TestExplain(t *testing.T) {
	odd := configMap("odd", "owner")
	odd.Owners[0].Kind, odd.Owners[0].Name = "No\x1b[31m", "a\nb"
	refused := configMap("refused", "nobody")
	seen := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Event", Namespace: "shop", Name: "seen", UID: "seen"}}
	events := object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true, Verbs: object.AllVerbs}
	s := serveAlso([]object.Resource{events}, nil, configMap("owner", ""), configMap("goes", "owner"), odd, refused, seen)
	s.before = refusing("/refused")
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	_ = unsettled(t, gc, "shop/refused", "nobody may delete it")
	s.remove(t, "owner")
	other := asked("refused")
	other.UID = "of another cluster"
	untyped := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	untyped.SetNamespace("shop")
	untyped.SetName("odd")
	unserved := untyped.DeepCopy()
	unserved.SetKind("Nothing")
	nowhere, versionless, malformed := untyped.DeepCopy(), untyped.DeepCopy(), untyped.DeepCopy()
	nowhere.SetNamespace("")
	versionless.SetAPIVersion("")
	malformed.SetAPIVersion("a/b/c")
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "seen"}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	of := func(uid types.UID) *widget {
		w := &widget{*asked("goes")}
		w.UID = uid
		return w
	}
	for name, c := range map[string]struct {
		object gctest.Object
		want   []string
	}{
		"nil":                        {nil, []string{"which object?", "nil"}},
		"a nil pointer":              {(*corev1.Pod)(nil), []string{"which object?", "nil"}},
		"an untyped nil pointer":     {(*unstructured.Unstructured)(nil), []string{"which object?", "nil"}},
		"nothing":                    {&corev1.Pod{}, []string{"which object?", "neither a uid nor a name"}},
		"another cluster's":          {other, []string{"v1 ConfigMap shop/refused is not there", "uid-refused"}},
		"untyped, with odd names":    {untyped, []string{"v1 ConfigMap shop/odd", `No\x1b[31m`, `a\nb`}},
		"without its namespace":      {nowhere, []string{`which object? v1 ConfigMap "odd" has no namespace`}},
		"without its apiVersion":     {versionless, []string{`which object? ConfigMap "shop/odd" has no apiVersion`}},
		"an apiVersion that is none": {malformed, []string{`no resource is served for apiVersion "a/b/c"`}},
		"an event":                   {event, []string{"v1 Event shop/seen is there", "does not watch events"}},
		"of no namespace, with one":  {namespace, []string{"v1 Namespace shop stays"}},
		"a kind that nobody serves":  {unserved, []string{"v1 Nothing shop/odd", "no resource is served"}},
		"typed, of an unknown kind":  {of(""), []string{"unknown kind", "shop/goes", "apiVersion and kind"}},
		"typed, and seen":            {of("uid-refused"), []string{"v1 ConfigMap shop/refused"}},
		"a delete that is refused":   {asked("refused"), []string{"is garbage", "the last try failed", "nobody may delete it"}},
		"typed, of nobody knows who": {of("nobody's"), []string{"unknown kind", "nobody's"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := gc.Explain(c.object)
			mentions(t, said, c.want...)
			if strings.ContainsAny(said, "\x1b\r") || strings.Contains(said, "a\nb") {
				t.Errorf("it says what a terminal obeys: %q", said)
			}
		})
	}
}

// Explain is safe for concurrent use, also while the collector works. The race detector checks that.
func TestExplainBesideWork(t *testing.T) {
	objects := []*object.Object{configMap("owner", "")}
	for i := range 200 {
		objects = append(objects, configMap(fmt.Sprintf("d%d", i), "owner"))
	}
	s := serve(objects...)
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 20 {
				if gc.Explain(asked(fmt.Sprintf("d%d", i))) == "" {
					t.Error("nothing was said")
				}
			}
		})
	}
	s.remove(t, "owner")
	all.Wait()
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.there(); got != "" {
		t.Errorf("there are still %s", got)
	}
}

// Explain knows the kind of a deleted object from its uid, even if its type is unknown to client-go.
func TestExplainGone(t *testing.T) {
	s := serve(configMap("owner", ""), configMap("goes", "owner"))
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	s.remove(t, "owner")
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := &widget{*asked("goes")}
	gone.UID = "uid-goes"
	mentions(t, gc.Explain(gone), "v1 ConfigMap shop/goes is not there")
	err := s.Change(func() error {
		_, err := s.Sim.Create(t.Context(), &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "goes", UID: "uid-again"},
			Owners: []object.OwnerReference{}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mentions(t, gc.Explain(gone), "is not there", "An object with the uid")
}

package deleters

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The HTTP handler reports whether all is settled, what is left, and why an object exists.
func TestHandler(t *testing.T) {
	s := start(t, configMap("owner", ""), configMap("dependent", "owner"))
	handler := s.Handler()
	ask := func(path string, code int, parts ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if w.Code != code {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		has(t, w.Body.String(), parts...)
	}
	dependent := "/explain?apiVersion=v1&kind=ConfigMap&namespace=shop&name=dependent"
	ask("/settled", 200, "settled")
	ask("/healthz", 200, "ok")
	ask(dependent, 200, "stays", "owner v1 ConfigMap shop/owner")
	ask("/explain?uid=uid-dependent", 200, "v1 ConfigMap shop/dependent stays")
	ask("/explain?uid=nobody", 200, "unknown kind", "nobody")
	ask("/explain?kind=ConfigMap&name="+url.QueryEscape("a\nb"), 400, "which object?")
	for _, never := range []string{"no", "-1s", "0", "11m"} {
		ask("/settled?timeout="+never, 400, "timeout="+never)
	}
	s.refuse("/dependent")
	s.remove("owner", metav1.DeletePropagationBackground)
	ask("/settled?timeout=200ms", 504, "not settled after", "shop/dependent", "nobody may")
	ask(dependent, 200, "is garbage", "the last try failed", "nobody may")
	s.refuse("")
	ask("/settled", 200)
	ask(dependent, 200, "is not there")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	ask("/settled", 503, "has ended")
	ask("/healthz", 503, "has ended")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/settled", strings.NewReader("")))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

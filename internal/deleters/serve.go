package deleters

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The timeouts of /settled.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 10 * time.Minute
)

// Handler returns an HTTP handler, for tests in other languages:
//
//	GET /settled?timeout=30s   200 when nothing is left to do; 504 with the remaining work after
//	                           the timeout, or 503 with an error that makes waiting pointless
//	GET /explain?apiVersion=&kind=&namespace=&name=&uid=   200 with a text
//	GET /healthz               200 while the work continues
func (d *Deleters) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /settled", d.answerSettled)
	mux.HandleFunc("GET /explain", d.answerExplain)
	mux.HandleFunc("GET /healthz", d.answerHealth)
	return mux
}

func (d *Deleters) answerSettled(w http.ResponseWriter, r *http.Request) {
	timeout := defaultTimeout
	if text := r.URL.Query().Get("timeout"); text != "" {
		given, err := time.ParseDuration(text)
		if err != nil || given <= 0 || given > maxTimeout {
			http.Error(w, fmt.Sprintf("timeout=%s: must be a duration of up to %s", text, maxTimeout), http.StatusBadRequest)
			return
		}
		timeout = given
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	err := d.Settle(ctx)
	if err == nil {
		answer(w, "settled")
		return
	}
	code := http.StatusServiceUnavailable
	if _, late := errors.AsType[*unsettledError](err); late {
		code = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), code)
}

func (d *Deleters) answerExplain(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ref := object.Ref{
		APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name"), UID: types.UID(q.Get("uid")),
	}
	if ref.UID == "" && (ref.APIVersion == "" || ref.Kind == "" || ref.Name == "") {
		http.Error(w, "which object? Give a uid, or apiVersion, kind, name, and namespace if it has one", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), defaultTimeout)
	defer cancel()
	answer(w, d.Explain(ctx, ref))
}

func (d *Deleters) answerHealth(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-d.done:
		http.Error(w, d.endedError().Error(), http.StatusServiceUnavailable)
	default:
		answer(w, "ok")
	}
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, text) // the client may be gone
}

// Done returns a channel that is closed when the work has ended.
func (d *Deleters) Done() <-chan struct{} { return d.done }

package controller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// refusal is why a request was not sent. Only errObserving has no Reason.
type refusal struct {
	Reason reason.Code
	Text   string
}

// Error returns the text.
func (r *refusal) Error() string { return r.Text }

var (
	errObserving  = &refusal{Text: "the controller observes, it does not write"}
	errNotLeading = refuse(reason.NotLeading)
	errTripped    = refuse(reason.SafetyLimitTripped)
	errGathering  = refuse(reason.Gathering)
)

func refuse(why reason.Code) *refusal { return &refusal{why, reason.Gate.Short(why)} }

// retryRefused is the pause before a refused request is decided again, if the reason will not pass
// soon.
const retryRefused = 10 * time.Minute

// holdBack implements engine.RunOptions.Hold.
func holdBack(r *engine.RefusedError) time.Duration {
	switch refusal, _ := errors.AsType[*refusal](r); refusal {
	case nil, errNotLeading:
		return 0
	case errGathering:
		return gathering
	default:
		return retryRefused
	}
}

// gate decides about requests before they are sent.
type gate struct {
	enforce bool
	policy  apply.Policy
	breaker *circuitBreaker
	// garbage counts garbage before it is deleted; nil without that limit.
	garbage *garbageRateLimit
	fence   *leaseFence
	// deletes limits the rate of deletes; nil without a limit.
	deletes flowcontrol.RateLimiter
}

// before implements engine.RunOptions.Before. It checks the most permanent reasons first, so that a
// refusal has the reason that would remain.
func (g *gate) before(ctx context.Context, r engine.Request) error {
	if r.Verb == engine.DeleteObject {
		if refusal := g.protected(r); refusal != nil {
			return refusal
		}
	}
	// A request that is not sent must not be counted, because that could trip the limit.
	if err := g.mayWrite(); err != nil {
		return err
	}
	if r.Verb == engine.DeleteObject {
		if err := g.bounded(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// bounded checks a delete against the limits.
func (g *gate) bounded(ctx context.Context, r engine.Request) error {
	if g.garbage != nil {
		settled, why, err := g.garbage.record(ctx, r.Ref.UID)
		switch {
		case err != nil:
			return err
		case why != "":
			g.breaker.trip(garbageShare, why)
			return errTripped
		case !settled:
			return errGathering
		}
	}
	if g.deletes != nil {
		if err := g.deletes.Wait(ctx); err != nil {
			return err
		}
		if !g.fence.holds() {
			return errNotLeading // the lease was lost during the wait
		}
	}
	if !g.breaker.take() {
		return errTripped
	}
	return nil
}

// protected refuses to delete an object that is protected or may be.
func (g *gate) protected(r engine.Request) error {
	if r.Live == nil {
		return &refusal{reason.ProtectedByAnnotation, "it was never seen, so it may be protected"}
	}
	if why, ok := g.policy.Check(r.Live); ok {
		return &refusal{why, "it is protected: " + string(why)}
	}
	return nil
}

// mayWrite is the last check before any write.
func (g *gate) mayWrite() error {
	switch {
	case !g.enforce:
		return errObserving
	case g.breaker.isTripped():
		return errTripped
	case !g.fence.holds():
		return errNotLeading
	default:
		return nil
	}
}

// transport is the last step before a request is sent. It counts the collector's requests, and
// blocks writes that must not start now. It repeats the last check of the gate, because a request
// may have waited since: for a rate limiter, or for a Retry-After of the server.
type transport struct {
	next http.RoundTripper
	gate *gate
}

// WrappedRoundTripper returns the wrapped transport.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request, unless it is a write that must not start.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	verb := verbOf(r)
	send := t.next.RoundTrip
	if r.Method != http.MethodGet {
		send = t.write
	}
	response, err := send(r)
	code := "error"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	requestsTotal.WithLabelValues(verb, code).Inc()
	return response, err
}

// write sends a write. It may have to wait for a connection, so it is cancelled if the lease is
// lost before the response arrives.
func (t *transport) write(r *http.Request) (*http.Response, error) {
	if err := t.gate.mayWrite(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	if t.gate.fence == nil {
		return t.next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(t.gate.fence.lost, cancel)
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	stop()
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &release{response.Body, cancel}
	return response, nil
}

// release is the body of a response that calls free when it is closed.
type release struct {
	io.ReadCloser
	free func()
}

// Close closes the body.
func (r *release) Close() error {
	defer r.free()
	return r.ReadCloser.Close()
}

// verbOf returns the Kubernetes verb of a request.
func verbOf(r *http.Request) string {
	switch {
	case r.Method != http.MethodGet:
		return strings.ToLower(r.Method)
	case r.URL.Query().Get("watch") != "":
		return "watch"
	case strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList"):
		return "list"
	default:
		return "get"
	}
}

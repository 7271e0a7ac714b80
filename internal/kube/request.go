package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The accepted media types.
const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"

	metadataOnly     = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	metadataListOnly = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

	acceptMetadata = protobufType + metadataOnly + "," + jsonType + metadataOnly
	acceptList     = protobufType + metadataListOnly + "," + jsonType + metadataListOnly
)

// request is one request before it is sent.
type request struct {
	verb string
	// path are the segments below the URL of the server, not escaped.
	path    []string
	query   url.Values
	accept  string
	body    []byte
	content string // media type of the body
	// about is the object or list, for messages.
	about subject
	// alive is called for every response, also for one that says "not now". If it is nil, the
	// response must be complete within a time limit. See brief.
	alive func()
}

func (r request) reads() bool { return r.verb == http.MethodGet }

// answer is a successful response. The body must be closed.
type answer struct {
	body io.ReadCloser
	// media is the media type of the body without parameters.
	media string
	date  time.Time
}

// maxAttempts is the maximum number of times that a request is sent while the server says "not
// now".
const maxAttempts = 10

// maxUnreadyWait is the maximum total time that a read waits for a resource that is not ready. The
// server asks for waits of up to 30 seconds, because its watch cache retries less and less often.
// If the objects cannot be converted, the resource stays unready until the webhook is repaired.
// Then maxUnconvertedWait is the limit: enough for a webhook that has missed one request.
const (
	maxUnreadyWait     = 15 * time.Second
	maxUnconvertedWait = 2 * time.Second
)

// send sends a request, and repeats it while the server is overloaded. A write is repeated only on
// 429, which says that nothing was done. A read is also repeated on 5xx with a Retry-After.
// Everything but 2xx is an error.
//
// Upstream: client-go/rest/with_retry.go IsNextRetry, checkWait: repeats writes on 5xx, too.
func (c *Client) send(ctx context.Context, r request) (*answer, error) {
	a, tries, err := c.sendRepeatedly(ctx, r)
	if err != nil && tries > 1 && !r.reads() {
		err = &RepeatedError{Err: err}
	}
	return a, err
}

// RepeatedError wraps the last error of a write that was sent again after 429 Too Many Requests. A
// proxy may send 429 for a request that it has forwarded. A later 404 can then mean that the first
// attempt deleted the object.
type RepeatedError struct{ Err error }

// Error returns the last error.
func (e *RepeatedError) Error() string { return e.Err.Error() }

// Unwrap returns the last error.
func (e *RepeatedError) Unwrap() error { return e.Err }

// sendRepeatedly sends a request until it is answered finally, and returns how often it was sent.
func (c *Client) sendRepeatedly(ctx context.Context, r request) (a *answer, sent int, err error) {
	var waited time.Duration
	for try := 1; ; try++ {
		if err := c.waitForPause(ctx); err != nil {
			return nil, sent, err
		}
		sent++
		response, err := c.sendOnce(ctx, r) //nolint:bodyclose // failure closes it, and so does the receiver of the answer
		if err != nil {
			return nil, sent, err
		}
		if !r.reads() {
			c.warnings.collect(response.Header)
		}
		if r.alive != nil {
			r.alive()
		}
		if response.StatusCode >= 200 && response.StatusCode < 300 {
			return answerOf(response), sent, nil
		}
		err = failure(r, response)
		after, again := retryAfter(r, response)
		switch {
		case !again || try == maxAttempts:
			return nil, sent, err
		case response.StatusCode == http.StatusTooManyRequests && overloaded(err):
			c.pause.extend(c.now().Add(after)) // for all requests: see waitForPause
		case r.reads() && response.StatusCode == http.StatusTooManyRequests && waited+after > c.unreadyFor(err):
			return nil, sent, err
		default:
			if c.unready > 0 && response.StatusCode == http.StatusTooManyRequests {
				after, try = min(after, c.unready), try-1 // the time limit applies instead of the count
			}
			waited += max(after, time.Millisecond)
			c.wait(ctx.Done(), after)
		}
		if ctx.Err() != nil {
			return nil, sent, errors.Join(ctx.Err(), err)
		}
	}
}

// waitForPause waits until a request may be sent: until the pause that the server has asked for is
// over, and until the client's own rate limit allows it.
func (c *Client) waitForPause(ctx context.Context) error {
	if d := c.pause.left(c.now()); d > 0 {
		c.wait(ctx.Done(), d)
	}
	if c.limiter != nil && ctx.Err() == nil {
		return c.limiter.Wait(ctx)
	}
	return ctx.Err()
}

// pause is the time until which the server has asked for no requests.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

func (p *pause) extend(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.until) {
		p.until = until
	}
}

func (p *pause) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until.Sub(now)
}

// sendOnce sends a request a single time. Only with alive may the response take any time.
func (c *Client) sendOnce(ctx context.Context, r request) (*http.Response, error) {
	u := *c.base
	u.RawPath = strings.Join(append([]string{c.base.EscapedPath()}, object.Mapped(r.path, url.PathEscape)...), "/")
	u.Path = strings.Join(append([]string{c.base.Path}, r.path...), "/")
	u.RawQuery = r.query.Encode()
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	hr, err := http.NewRequest(r.verb, u.String(), body)
	if err != nil {
		return nil, err
	}
	hr.Header.Set("Accept", r.accept)
	if r.content != "" {
		hr.Header.Set("Content-Type", r.content)
	}
	if r.alive != nil {
		return c.http.Do(hr.WithContext(ctx))
	}
	return c.sendWithTimeout(ctx, hr, r.about)
}

func answerOf(response *http.Response) *answer {
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		media = response.Header.Get("Content-Type")
	}
	a := &answer{body: response.Body, media: media}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		a.date = date
	}
	return a
}

// overloaded reports whether a 429 comes from an overloaded server, or from a proxy. Both send
// plain text. A Status is about this request's resource alone, for example a resource that is still
// being read into the watch cache, or an eviction that must wait. It does not delay other requests.
//
// Upstream: apiserver/pkg/server/filters/priority-and-fairness.go tooManyRequests.
// Upstream: apiserver/pkg/storage/cacher/ready.go readGenerationLocked: "storage is
// (re)initializing".
func overloaded(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// unreadyFor returns the maximum total time to wait for an unready resource, by its error.
//
// Upstream: apiserver/pkg/storage/cacher/ready.go readGenerationLocked: appends why the last
// attempt to read has failed.
// Upstream: apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go webhookConverter.Convert.
func (c *Client) unreadyFor(err error) time.Duration {
	if c.unready > 0 || strings.Contains(err.Error(), "conversion webhook for ") {
		return maxUnconvertedWait
	}
	return maxUnreadyWait
}

// retryAfter returns how long the server asks to wait, and whether the request may be repeated.
func retryAfter(r request, response *http.Response) (time.Duration, bool) {
	header := response.Header.Get("Retry-After")
	busy := response.StatusCode == http.StatusTooManyRequests
	if !busy && (!r.reads() || response.StatusCode < 500 || header == "") {
		return 0, false
	}
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 {
		seconds = 1
	}
	return time.Duration(min(seconds, 30)) * time.Second, true
}

// smallBody bounds responses that are held as a whole: single objects, reviews and errors.
const smallBody = 16 << 20

// exchange sends a request and decodes the response, which must be JSON.
func (c *Client) exchange(ctx context.Context, r request, into any) error {
	_, err := c.exchangeDated(ctx, r, into)
	return err
}

// exchangeDated is like exchange, and also returns the server's time of the response.
func (c *Client) exchangeDated(ctx context.Context, r request, into any) (time.Time, error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = a.body.Close() }()
	if a.media != jsonType {
		return time.Time{}, &UnexpectedAnswerError{About: r.about.String(), What: "its type is " + quote(a.media)}
	}
	text, err := io.ReadAll(io.LimitReader(a.body, smallBody))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: the answer broke off: %w", r.about, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return time.Time{}, &UnexpectedAnswerError{About: r.about.String(), What: err.Error()}
	}
	return a.date, nil
}

// warnings passes on the warnings of the server, each text once.
type warnings struct {
	tell func(string)
	mu   sync.Mutex
	told map[string]struct{}
}

// maxWarnings bounds the remembered texts.
const maxWarnings = 1000

func (w *warnings) collect(h http.Header) {
	values := h.Values("Warning")
	if len(values) == 0 || w.tell == nil {
		return
	}
	parsed, _ := utilnet.ParseWarningHeaders(values)
	for _, warning := range parsed {
		if warning.Code == 299 && strings.TrimSpace(warning.Text) != "" && w.first(warning.Text) {
			w.tell(warning.Text)
		}
	}
}

func (w *warnings) first(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.told[text]; ok || len(w.told) >= maxWarnings {
		return false
	}
	if w.told == nil {
		w.told = map[string]struct{}{}
	}
	w.told[text] = struct{}{}
	return true
}

// quote returns untrusted text for a message: short and without control characters.
func quote(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most]
	}
	return strconv.Quote(s)
}

// errSilent ends a request without a response. It is not a context error: this client gave up, and
// what the server did is unknown.
var errSilent = errors.New("no answer came for too long")

// timedBody is the body of a response that must be complete within Client.brief.
type timedBody struct {
	io.ReadCloser
	// asked is the caller's context, bound that of the request.
	asked, bound context.Context
	end          func()
	about        subject
}

// sendWithTimeout sends a request that is cancelled after Client.brief, so that a missing response
// does not block others.
func (c *Client) sendWithTimeout(ctx context.Context, r *http.Request, about subject) (*http.Response, error) {
	bound, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.brief, func() { cancel(errSilent) })
	b := &timedBody{asked: ctx, bound: bound, about: about, end: func() {
		timer.Stop()
		cancel(nil)
	}}
	response, err := c.http.Do(r.WithContext(bound))
	if err != nil {
		err = b.failed(err)
		b.end()
		return nil, err
	}
	b.ReadCloser, response.Body = response.Body, b
	return response, nil
}

// failed returns errSilent if the time limit caused the error.
func (b *timedBody) failed(err error) error {
	if b.asked.Err() == nil && errors.Is(context.Cause(b.bound), errSilent) {
		return fmt.Errorf("%s: %w", b.about, errSilent)
	}
	return err
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.failed(err)
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

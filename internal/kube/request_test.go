package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mute accepts a request and never answers it; half begins a response and never ends it.
func mute(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func half(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", protobufType)
	_, _ = w.Write([]byte("k8s"))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// TestSilence: a request without a response is cancelled, and the error is not that of the caller's
// context. What the server did is unknown.
func TestSilence(t *testing.T) {
	uid, version := settings.UID, "7"
	for name, ask := range map[string]func(context.Context, *Client) error{
		"a read": func(ctx context.Context, c *Client) error { _, err := c.Get(ctx, settings); return err },
		"a copy": func(ctx context.Context, c *Client) error { _, _, err := c.Raw(ctx, settings); return err },
		"a proof": func(ctx context.Context, c *Client) error {
			_, err := c.Proven(ProofOptions{}).Get(ctx, settings)
			return err
		},
		"a delete": func(ctx context.Context, c *Client) error {
			return c.Delete(ctx, settings, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
		},
		"a patch": func(ctx context.Context, c *Client) error {
			return c.Patch(ctx, settings, object.Patch{UID: uid, ResourceVersion: version})
		},
		"discovery": func(ctx context.Context, c *Client) error { _, err := c.Discover(ctx); return err },
	} {
		for how, answer := range map[string]http.HandlerFunc{"never": mute, "not to its end": half} {
			t.Run(name+" "+how, func(t *testing.T) {
				s, c := ready(t)
				c.brief = 20 * time.Millisecond
				s.on(settingsPath, answer)
				s.on("/apis", answer)
				s.on("/api", answer)
				ctx, cancel := context.WithTimeout(context.Background(), ample)
				defer cancel()
				if err := ask(ctx, c); !errors.Is(err, errSilent) || isContext(err) {
					t.Errorf("%v", err)
				}
				early, stop := context.WithCancel(context.Background())
				stop()
				if err := ask(early, c); !isContext(err) {
					t.Errorf("the end of the context is %v", err)
				}
			})
		}
	}
}

// cancelled is a body that fails like one of HTTP/2: with the error of the context.
type cancelled struct{ io.ReadCloser }

func (cancelled) Read([]byte) (int, error) { return 0, context.Canceled }

// TestSilentBody: the timeout is reported whatever the transport returns.
func TestSilentBody(t *testing.T) {
	bound, cancel := context.WithCancelCause(t.Context())
	b := &timedBody{ReadCloser: cancelled{}, asked: t.Context(), bound: bound}
	if _, err := b.Read(nil); !isContext(err) {
		t.Errorf("in time: %v", err)
	}
	cancel(errSilent)
	if _, err := b.Read(nil); !errors.Is(err, errSilent) || isContext(err) {
		t.Errorf("too late: %v", err)
	}
}

// TestWatchNeverBegins: a watch that does not begin is an error, not a watch without events.
func TestWatchNeverBegins(t *testing.T) {
	s, c := serve(t)
	c.idle = 20 * time.Millisecond
	noWidgets(s)
	s.on(configMapsPath, listOf("5", "", "a"))
	s.on(configMapsPath+" watch", slices.Concat(slices.Repeat([]http.HandlerFunc{mute}, 3),
		[]http.HandlerFunc{watching(true, event("ADDED", named("d"), "8"))})...)
	seen := newStates()
	_, next := follow(t, c, FollowOptions{State: seen.note})
	same(t, next(2), "ADDED a uid-a 5", "ADDED d uid-d 8")
	seen.await(t, "configmaps", Broken)
	seen.await(t, "configmaps", Synced)
}

// endless is a text that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte{'a'}, len(p))), nil
}

// TestEndlessFrame: an endless JSON frame is an error. Each of several frames has its own limit.
func TestEndlessFrame(t *testing.T) {
	e := &endless{}
	c := framesOf(io.MultiReader(bytes.NewReader([]byte(`{"type":"ADDED","object":{"x":"`)), e))
	if _, err := c.next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an endless frame: %v", err)
	}
	if e.read > 2*maxFieldBytes {
		t.Errorf("%d bytes were read", e.read)
	}
	frame := []byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","x":"` + string(bytes.Repeat([]byte{'a'}, maxFieldBytes/3)) + `"}}}`)
	c = framesOf(bytes.NewReader(bytes.Repeat(frame, 5)))
	for range 5 {
		if f, err := c.next(); err != nil || f.version != "7" {
			t.Fatalf("%v %v", f, err)
		}
	}
}

// framesOf returns JSON frames.
func framesOf(r io.Reader) *frames {
	return newFrames(newFrameReader(configMaps), Place{Resource: configMaps}, &answer{body: io.NopCloser(r), media: jsonType})
}

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errSilent ends a request without a response. It is not a context error: this client gave up, and
// what the server did is unknown.
var errSilent = errors.New("no answer came for too long")

// brief is the body of a response that must be complete within Client.brief.
type brief struct {
	io.ReadCloser
	// asked is the caller's context, bound that of the request.
	asked, bound context.Context
	end          func()
	about        subject
}

// briefly sends a request that is cancelled after Client.brief, so that a missing response does not
// block others.
func (c *Client) briefly(ctx context.Context, r *http.Request, about subject) (*http.Response, error) {
	bound, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.brief, func() { cancel(errSilent) })
	b := &brief{asked: ctx, bound: bound, about: about, end: func() {
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
func (b *brief) failed(err error) error {
	if b.asked.Err() == nil && errors.Is(context.Cause(b.bound), errSilent) {
		return fmt.Errorf("%s: %w", b.about, errSilent)
	}
	return err
}

func (b *brief) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.failed(err)
	}
	return n, err
}

func (b *brief) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

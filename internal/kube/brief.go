package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errSilent ends a request that is not answered. It is no error of a context: who has
// given up is the client, and nobody knows what the server has done.
var errSilent = errors.New("no answer came for too long")

// brief is a request whose answer has to be there, to its end, within a time.
type brief struct {
	io.ReadCloser
	// asked is the context of whoever asks, bound the one of the request.
	asked, bound context.Context
	end          func()
	about        subject
}

// briefly sends a request that is given up after a time: who waits for an answer that
// never comes holds up others.
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

// failed says that the time was over, if it was.
func (b *brief) failed(err error) error {
	if b.asked.Err() == nil && errors.Is(context.Cause(b.bound), errSilent) {
		return fmt.Errorf("%s: %w", b.about, errSilent)
	}
	return err
}

// Read reads the answer.
func (b *brief) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.failed(err)
	}
	return n, err
}

// Close ends the request.
func (b *brief) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

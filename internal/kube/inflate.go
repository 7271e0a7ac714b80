package kube

import (
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// inflate has the answer of a request that asked for gzip read as what it was before. The
// transport would do that, too, with the reader of the standard library, which takes half
// as long again: after the server's own work that is the largest part of reading a list.
func inflate(response *http.Response) {
	if response.Uncompressed || response.Header.Get("Content-Encoding") != "gzip" {
		return
	}
	response.Header.Del("Content-Encoding")
	response.Header.Del("Content-Length")
	response.ContentLength, response.Uncompressed = -1, true
	response.Body = &inflated{body: response.Body}
}

// inflated is a body that was compressed. Nothing is read of it before somebody reads.
type inflated struct {
	body io.ReadCloser
	text *gzip.Reader
	err  error
}

// Read reads what was compressed.
func (i *inflated) Read(p []byte) (int, error) {
	if i.text == nil && i.err == nil {
		i.text, i.err = gzip.NewReader(i.body)
	}
	if i.err != nil {
		return 0, i.err
	}
	return i.text.Read(p)
}

// Close closes the body.
func (i *inflated) Close() error { return i.body.Close() }

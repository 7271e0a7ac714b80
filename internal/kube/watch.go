package kube

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// frameReader has what the watches of one kind share.
type frameReader struct {
	resource object.Resource
	whole    bool
	shared   *manifest.Builder
	meta     *manifest.Metadata
	intern   *manifest.Interner
	decoded  int
	buf      []byte
}

func newFrameReader(r object.Resource) *frameReader {
	whole := manifest.HasFacts(r.APIVersion(), r.Kind)
	sh := builderFor(r, whole)
	return &frameReader{resource: r, whole: whole, shared: sh, meta: sh.Metadata()}
}

// frame is one event of a watch. A bookmark has no object.
type frame struct {
	object.Event
	version string
}

// frames is a watch in progress.
type frames struct {
	rd    *frameReader
	body  io.ReadCloser
	about string
	json  *json.Decoder  // nil for protobuf
	text  *boundedReader // what json reads
}

func (f *frames) close() { _ = f.body.Close() }

// watch begins to watch a place from a resourceVersion on.
func (c *Client) watch(ctx context.Context, at Place, version string, limit time.Duration, rd *frameReader) (*frames, error) {
	r := request{
		verb: http.MethodGet, path: at.path(), accept: acceptMetadata, about: at.subject(),
		query: url.Values{
			"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
			"timeoutSeconds": {strconv.Itoa(int(limit.Seconds()))},
		},
	}
	if rd.whole {
		r.accept = acceptWhole(at.Resource)
	}
	a, err := c.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.media != jsonType && (a.media != protobufType || rd.whole && !at.Resource.Is(object.Pod)) {
		_ = a.body.Close()
		return nil, &UnexpectedAnswerError{About: at.subject().String(), What: "its type is " + quote(a.media)}
	}
	return newFrames(rd, at, a), nil
}

func newFrames(rd *frameReader, at Place, a *answer) *frames {
	f := &frames{rd: rd, body: a.body, about: at.subject().String()}
	if a.media == jsonType {
		f.text = &boundedReader{r: a.body}
		f.json = json.NewDecoder(f.text)
	}
	return f
}

// begin sends a request with a streaming response, and fails if the response does not begin within
// Client.idle. A watch that never begins would look like one without events.
func (c *Client) begin(ctx context.Context, r request) (*answer, error) {
	bound, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.idle, func() { cancel(errIdle) })
	r.alive = func() { timer.Reset(c.idle) }
	a, err := c.send(bound, r)
	late := !timer.Stop()
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(bound), errIdle):
		err = fmt.Errorf("%s: %w", r.about, errIdle)
	case err == nil && late:
		_ = a.body.Close()
		err = fmt.Errorf("%s: %w", r.about, errIdle)
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	a.body = cancelingBody{a.body, func() { cancel(nil) }}
	return a, nil
}

// cancelingBody is a body that calls end when it is closed.
type cancelingBody struct {
	io.ReadCloser
	end func()
}

// Close closes the body.
func (e cancelingBody) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

// boundedReader limits the number of bytes that are read for one frame.
type boundedReader struct {
	r    io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a frame has more than %d bytes", maxFieldBytes)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// next returns the next event. io.EOF means that the server ended the watch. An error event of the
// watch is an *apierrors.StatusError.
func (f *frames) next() (frame, error) {
	read := f.message
	if f.json != nil {
		read = f.textFrame
	}
	e, err := read()
	if err != nil && !errors.Is(err, io.EOF) {
		if _, ok := errors.AsType[*apierrors.StatusError](err); !ok {
			err = fmt.Errorf("%s: watch: %w", f.about, err)
		}
	}
	return e, err
}

// message reads a protobuf frame: its length in four bytes, and a WatchEvent.
//
// Upstream: apimachinery/pkg/util/framer/framer.go lengthDelimitedFrameReader.Read.
// Upstream: apimachinery/pkg/apis/meta/v1/watch.go WatchEvent: without an envelope.
func (f *frames) message() (frame, error) {
	var size [4]byte
	if _, err := io.ReadFull(f.body, size[:]); err != nil {
		return frame{}, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > maxFieldBytes {
		return frame{}, fmt.Errorf("protobuf: a frame has %d bytes", n)
	}
	if cap(f.rd.buf) < n {
		f.rd.buf = make([]byte, n)
	}
	text := f.rd.buf[:n]
	if _, err := io.ReadFull(f.body, text); err != nil {
		return frame{}, unexpectedEOF(err)
	}
	return f.rd.event(text)
}

// event decodes a WatchEvent.
func (rd *frameReader) event(text []byte) (frame, error) {
	var name string
	var e manifest.Envelope
	err := manifest.Each(text, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case manifest.BytesTag(1):
			name = string(text)
		case manifest.BytesTag(2):
			raw, err := manifest.FieldAt(text, manifest.BytesTag(1))
			if err == nil {
				e, err = manifest.Open(raw)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return frame{}, err
	}
	if name == "ERROR" {
		var status metav1.Status
		if e.Kind.Kind != "Status" || status.Unmarshal(e.Raw) != nil {
			return frame{}, errors.New("an error that is no Status")
		}
		return frame{}, &apierrors.StatusError{ErrStatus: status}
	}
	if rd.shared.Single != e.Kind {
		return frame{}, fmt.Errorf("it is a %s of %s", quote(e.Kind.Kind), quote(e.APIVersion))
	}
	if err := rd.meta.Read(e.Raw); err != nil && name != "BOOKMARK" {
		return frame{}, err
	}
	if name == "BOOKMARK" {
		return bookmarkFrame(rd.meta.ResourceVersion())
	}
	return changeFrame(name, rd.shared.Object(rd.meta))
}

func bookmarkFrame(version string) (frame, error) {
	if version == "" {
		return frame{}, errors.New("a bookmark without a resourceVersion")
	}
	return frame{version: version}, nil
}

// changeFrame converts an event of a watch.
func changeFrame(name string, o *object.Object) (frame, error) {
	e := frame{Event: object.Event{Object: o}, version: o.ResourceVersion}
	switch name {
	case "ADDED":
		e.Type = object.Added
	case "MODIFIED":
		e.Type = object.Modified
	case "DELETED":
		e.Type = object.Deleted
	default:
		return frame{}, fmt.Errorf("an event of type %s", quote(name))
	}
	return e, nil
}

// maxDecoded is the number of JSON objects after which the interned strings of a kind are dropped:
// a watch can run for months.
const maxDecoded = 1 << 15

// textFrame reads a JSON frame.
func (f *frames) textFrame() (frame, error) {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	f.text.left = maxFieldBytes
	if err := f.json.Decode(&event); err != nil {
		return frame{}, err
	}
	switch event.Type {
	case "ERROR":
		var status metav1.Status
		if err := json.Unmarshal(event.Object, &status); err != nil || status.Kind != "Status" {
			return frame{}, errors.New("an error that is no Status")
		}
		return frame{}, &apierrors.StatusError{ErrStatus: status}
	case "BOOKMARK":
		var o struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(event.Object, &o); err != nil {
			return frame{}, err
		}
		return bookmarkFrame(o.Metadata.ResourceVersion)
	}
	rd := f.rd
	if rd.decoded++; rd.intern == nil || rd.decoded%maxDecoded == 0 {
		rd.intern = manifest.NewInterner()
	}
	o, err := ReadObject(event.Object, rd.resource.APIVersion(), rd.resource.Kind, rd.intern)
	if err != nil {
		return frame{}, err
	}
	return changeFrame(event.Type, o)
}

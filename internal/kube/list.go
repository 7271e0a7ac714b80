package kube

import (
	"context"
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

// Place is a resource in one namespace, or in all namespaces if it is empty.
type Place struct {
	Resource  object.Resource
	Namespace string
}

// path returns the URL path segments of the place.
func (p Place) path() []string {
	var path []string
	if p.Resource.Group == "" {
		path = append(path, "api", p.Resource.Version)
	} else {
		path = append(path, "apis", p.Resource.Group, p.Resource.Version)
	}
	if p.Namespace != "" {
		path = append(path, "namespaces", p.Namespace)
	}
	return append(path, p.Resource.Name)
}

func (p Place) subject() subject { return subject{resource: p.Resource, namespace: p.Namespace} }

// about returns a unique description of the place.
func (p Place) about() string { return p.subject().String() }

// Selection narrows a list; the zero value selects everything. A narrowed list does not prove
// absence.
type Selection struct {
	Fields string
	// Revision requests the list at a revision of the past; 0 means now. Forgotten holds for the
	// error if the server no longer remembers it.
	Revision uint64
	// Metadata requests metadata only, also for kinds with facts in spec or status.
	Metadata bool
	// Outside requests whole objects of the kinds with outside facts.
	Outside bool
}

// Listing has the callbacks of List. Any of them may be nil.
type Listing struct {
	// Object is called for each object, in the order of the server. Its error ends the list and is
	// returned unchanged.
	Object func(*object.Object) error
	// Restart is called when the list starts again: objects of the previous try may be gone.
	Restart func()
	// Bytes is called with the number of bytes that arrived, after decompression.
	Bytes func(n int)
}

// Listed describes a complete list.
type Listed struct {
	// ResourceVersion is that of the list.
	ResourceVersion string
	// Objects is the number of objects.
	Objects int
	// Taken is the server's time of the first response; zero if unknown.
	Taken time.Time
}

// pageSize is the number of objects on a page if a server could not answer in one piece.
const pageSize = 500

// listTries is how often a list may start from the beginning.
const listTries = 4

// List lists a place completely: in one piece, or in pages of one consistent list. A nil error
// means that everything was read. A list that expires in between starts from the beginning. The
// continue token of an inconsistent list is never used. Kinds without facts are requested as
// metadata.
func (c *Client) List(ctx context.Context, at Place, by Selection, to Listing) (Listed, error) {
	limit := c.chunk
	for try := 1; ; try++ {
		got, err := c.list(ctx, at, by, to, limit)
		if err == nil {
			return got, nil
		}
		again := isExpired(err) && by.Revision == 0
		if !again && limit == 0 && mayNeedSmallerPage(err) {
			limit, again = pageSize, true
		}
		if refusal, ok := errors.AsType[receiverError](err); ok {
			return got, refusal.error
		}
		if !again || try == listTries || ctx.Err() != nil {
			return got, err
		}
		if to.Restart != nil {
			to.Restart()
		}
	}
}

// Forgotten reports whether the server no longer remembers the requested revision.
func Forgotten(err error) bool { return isExpired(err) }

// isExpired reports whether the server no longer remembers the requested revision.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// mayNeedSmallerPage reports whether a smaller page may succeed.
func mayNeedSmallerPage(err error) bool {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, manifest.ErrTruncated) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && (status.ErrStatus.Code >= 500 || status.ErrStatus.Code == http.StatusRequestEntityTooLarge)
}

// receiverError is an error of the receiver of a list, not of the list itself.
type receiverError struct{ error }

// list lists once from the beginning.
func (c *Client) list(ctx context.Context, at Place, by Selection, to Listing, limit int64) (Listed, error) {
	rd := newListReader(at, to)
	rd.whole = rd.whole && !by.Metadata || by.Outside && object.HasOutsideFacts(at.Resource.Group, at.Resource.Kind)
	accept := acceptList
	if rd.whole {
		accept = acceptWhole(at.Resource)
	}
	version, taken, err := c.pages(ctx, at, by, limit, accept, rd)
	return Listed{ResourceVersion: version, Objects: rd.objects, Taken: taken}, err
}

// pages reads all pages of a list. It returns the list's resourceVersion and the server's time of
// the first response.
func (c *Client) pages(ctx context.Context, at Place, by Selection, limit int64, accept string, rd pageReader) (version string, first time.Time, err error) {
	token := ""
	for {
		page, taken, err := c.page(ctx, listRequest(at, by, limit, token, accept), rd)
		if err != nil {
			return "", first, err
		}
		if first.IsZero() {
			first = taken
		}
		switch page.more {
		case "":
			return page.resourceVersion, first, nil
		case token:
			return "", first, &UnexpectedAnswerError{About: at.subject().String(), What: "a page says that the next page is the same"}
		}
		token = page.more
	}
}

// errIdle ends a list that has stopped arriving.
var errIdle = errors.New("nothing arrived for too long")

// pageReader reads the pages of one list.
type pageReader interface {
	page(*answer) (listMeta, error)
	// wrap adds the list to an error.
	wrap(error) error
}

// page requests and reads one page. It fails if nothing arrives for Client.idle.
func (c *Client) page(ctx context.Context, r request, rd pageReader) (listMeta, time.Time, error) {
	bound, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.idle, func() { cancel(errIdle) })
	defer timer.Stop()
	r.alive = func() { timer.Reset(c.idle) }
	var page listMeta
	a, err := c.send(bound, r)
	if err == nil {
		defer func() { _ = a.body.Close() }()
		a.body = &countingReader{a.body, func(int) { r.alive() }}
		if page, err = rd.page(a); err == nil {
			return page, a.date, nil
		}
		err = rd.wrap(err)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(context.Cause(bound), errIdle):
		err = fmt.Errorf("%s: %w", r.about, errIdle)
	}
	return page, time.Time{}, err
}

func listRequest(at Place, by Selection, limit int64, token, accept string) request {
	q := url.Values{}
	for key, value := range map[string]string{"fieldSelector": by.Fields, "continue": token} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if limit > 0 {
		q.Set("limit", strconv.FormatInt(limit, 10))
	}
	if by.Revision > 0 && token == "" { // the token contains the revision
		q.Set("resourceVersion", strconv.FormatUint(by.Revision, 10))
		q.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	}
	return request{verb: http.MethodGet, path: at.path(), query: q, accept: accept, about: at.subject()}
}

// acceptWhole returns the media types for whole objects of a kind with facts.
func acceptWhole(r object.Resource) string {
	if r.Is(object.Pod) {
		return protobufType + "," + jsonType
	}
	return jsonType
}

// builderFor returns the builder for metadata, or for whole objects.
func builderFor(r object.Resource, whole bool) *manifest.Builder {
	if whole && r.Is(object.Pod) {
		return manifest.NewPods(r)
	}
	return manifest.NewBuilder(r)
}

// readList is what was read of a list.
type readList struct {
	at      Place
	objects int
}

// wrap adds the list and the number of objects before the error.
func (l *readList) wrap(err error) error {
	if _, ok := errors.AsType[receiverError](err); ok {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, manifest.ErrTruncated) {
		return fmt.Errorf("%s: the answer broke off after %d objects: %w", l.at.subject(), l.objects, err)
	}
	return fmt.Errorf("%s: not the requested list: %w", l.at.subject(), err)
}

// listReader reads the pages of one list.
type listReader struct {
	readList
	to Listing
	// whole is true if spec and status are needed too.
	whole   bool
	builder *manifest.Builder
	intern  *manifest.Interner
}

func newListReader(at Place, to Listing) *listReader {
	return &listReader{readList: readList{at: at}, to: to, whole: manifest.HasFacts(at.Resource.APIVersion(), at.Resource.Kind)}
}

// page reads one page.
func (rd *listReader) page(a *answer) (listMeta, error) {
	body := a.body
	if rd.to.Bytes != nil {
		body = &countingReader{body, rd.to.Bytes}
	}
	switch a.media {
	case protobufType:
		if rd.whole && !rd.at.Resource.Is(object.Pod) {
			return listMeta{}, errors.New("it is protobuf")
		}
		if rd.builder == nil {
			rd.builder = builderFor(rd.at.Resource, rd.whole)
		}
		return readPartialList(body, rd.builder, rd.take)
	case jsonType:
		return rd.json(body)
	default:
		return listMeta{}, fmt.Errorf("its type is %s", quote(a.media))
	}
}

// take passes an object to the callback if it belongs to the list.
func (rd *listReader) take(o *object.Object) error {
	if rd.at.Namespace != "" && o.Namespace != rd.at.Namespace {
		return fmt.Errorf("it holds an object of namespace %s", quote(o.Namespace))
	}
	rd.objects++
	if rd.to.Object == nil {
		return nil
	}
	if err := rd.to.Object(o); err != nil {
		return receiverError{err}
	}
	return nil
}

// json reads a page as JSON: for a kind with facts, or from a server that has no protobuf for it.
func (rd *listReader) json(body io.Reader) (listMeta, error) {
	r := rd.at.Resource
	if rd.intern == nil {
		rd.intern = manifest.NewInterner()
	}
	var lists []manifest.List
	err := manifest.Read(body, manifest.Options{
		File: rd.at.subject().String(), APIVersion: r.APIVersion(), Kind: r.Kind, Interner: rd.intern,
	}, manifest.Handler{
		Object: func(o *object.Object, inList bool, _ manifest.Position) error {
			if !inList || o.APIVersion != r.APIVersion() || o.Kind != r.Kind {
				return fmt.Errorf("it holds a %s of %s", quote(o.Kind), quote(o.APIVersion))
			}
			return rd.take(o)
		},
		List: func(l manifest.List) error {
			lists = append(lists, l)
			return nil
		},
		Foreign: func(_ manifest.Position, what string) error { return errors.New(what) },
	})
	if err != nil {
		return listMeta{}, err
	}
	if len(lists) != 1 {
		return listMeta{}, fmt.Errorf("it holds %d lists", len(lists))
	}
	l := lists[0]
	asked := l.Kind == r.Kind+"List" && l.APIVersion == r.APIVersion() ||
		l.Kind == partialList && l.APIVersion == metaVersion && !rd.whole
	if !asked {
		return listMeta{}, fmt.Errorf("it is a %s of %s", quote(l.Kind), quote(l.APIVersion))
	}
	return listMeta{resourceVersion: l.ResourceVersion, more: l.Continue}, nil
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.ReadCloser
	count func(int)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		c.count(n)
	}
	return n, err
}

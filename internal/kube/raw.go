package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Raw reads the whole object at the coordinates of ref, byte for byte as the server sends it, for a
// backup. It also returns the object.Object of these bytes.
func (c *Client) Raw(ctx context.Context, ref object.Ref) ([]byte, *object.Object, error) {
	at, err := c.locate(ref)
	if err != nil {
		return nil, nil, err
	}
	about := subject{resource: at.Resource, namespace: at.Namespace, name: ref.Name}
	a, err := c.send(ctx, request{verb: http.MethodGet, path: append(at.path(), ref.Name), accept: jsonType, about: about})
	if err != nil {
		return nil, nil, err
	}
	return rawObject(a, at.Resource, about)
}

// rawObject reads a response that is a whole object, and closes it.
func rawObject(a *answer, r object.Resource, about subject) ([]byte, *object.Object, error) {
	defer func() { _ = a.body.Close() }()
	text, err := io.ReadAll(io.LimitReader(a.body, smallBody))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the answer broke off: %w", about, err)
	}
	var o *object.Object
	if a.media != jsonType {
		err = errors.New("its type is " + quote(a.media))
	} else if o, err = readObject(text, r, nil); err == nil && (o.Name != about.name || o.Namespace != about.namespace) {
		err = errors.New("it is " + quote(o.Namespace+"/"+o.Name))
	}
	if err != nil {
		return nil, nil, &UnexpectedAnswerError{About: about.String(), What: err.Error()}
	}
	return text, o, nil
}

// PatchRaw sends an unchanged patch, such as a JSON patch with tests, to the object or, if named,
// to one of its subresources. With dry the server does not store the result.
func (c *Client) PatchRaw(ctx context.Context, ref object.Ref, subresource string, form types.PatchType, body []byte, dry bool) error {
	return c.writeTo(ctx, http.MethodPatch, ref, subresource, string(form), body, dry)
}

// Create creates the object ref from JSON. It returns the object as stored.
// apierrors.IsAlreadyExists holds for the error if it exists already. With dry the server does not
// store it.
func (c *Client) Create(ctx context.Context, ref object.Ref, body []byte, dry bool) (*object.Object, error) {
	at, err := c.locate(ref)
	if err != nil {
		return nil, err
	}
	about := subject{resource: at.Resource, namespace: at.Namespace, name: ref.Name}
	a, err := c.send(ctx, request{
		verb: http.MethodPost, path: at.path(), query: dryRun(dry), accept: acceptMetadata,
		body: body, content: jsonType, about: about,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.body.Close() }()
	return readOne(a, at.Resource, about)
}

func dryRun(dry bool) url.Values {
	if !dry {
		return nil
	}
	return url.Values{"dryRun": {"All"}}
}

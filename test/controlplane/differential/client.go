package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// client is a real API server as the engine sees it, and nothing more than that.
// What it sends is noted in a book.
type client struct {
	*cluster.Cluster
	*book
	resources *object.Resources
}

var _ engine.API = client{}

// Resource maps a kind as discovery says.
func (c client) Resource(apiVersion, kind string) (object.Resource, error) {
	return c.resources.For(apiVersion, kind)
}

// path is the address of an object, for those that have one.
func (c client) path(ref object.Ref) (string, error) {
	r, err := c.resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return "", err
	}
	switch {
	case !r.Namespaced:
		return root(r) + "/" + r.Name + "/" + ref.Name, nil
	case ref.Namespace == "":
		return "", &object.NamespaceRequiredError{Ref: ref}
	default:
		return root(r) + "/namespaces/" + ref.Namespace + "/" + r.Name + "/" + ref.Name, nil
	}
}

// root is where the kinds of a group and version are served.
func root(r object.Resource) string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// Get reads an object.
func (c client) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	path, err := c.path(ref)
	if err != nil {
		return nil, err
	}
	text, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	return one(text)
}

// Delete deletes an object.
func (c client) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	path, err := c.path(ref)
	if err != nil {
		return err
	}
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return c.change(ctx, http.MethodDelete, ref, path, "application/json", body)
}

// Patch patches an object.
func (c client) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	path, err := c.path(ref)
	if err != nil {
		return err
	}
	return c.change(ctx, http.MethodPatch, ref, path, p.Type.String(), p.Body())
}

// change sends a request that changes something, and notes it.
func (c client) change(ctx context.Context, method string, ref object.Ref, path, contentType string, body []byte) error {
	_, err := c.send(ctx, method, path, contentType, body)
	c.note(method, asSent(c.resources, ref), contentType, body, err == nil)
	return err
}

// send turns the answers of a server that are no success into the errors that
// they are to any client.
func (c client) send(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	text, err := c.Do(ctx, method, path, contentType, body)
	var refused *cluster.AnswerError
	if !errors.As(err, &refused) {
		return text, err
	}
	var status metav1.Status
	if json.Unmarshal(refused.Body, &status) != nil || status.Code == 0 {
		// A path that is not served is answered in plain text.
		return nil, apierrors.NewGenericServerResponse(refused.Code, method, object.Resource{}.GroupResource(), path, string(refused.Body), 0, true)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// one reads a single object.
func one(text []byte) (*object.Object, error) {
	var found *object.Object
	err := manifest.Read(bytes.NewReader(text), manifest.Options{}, manifest.Handler{
		Object: func(o *object.Object, _ bool, _ manifest.Position) error {
			found = o
			return nil
		},
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%.100q holds no object", text)
	}
	return found, err
}

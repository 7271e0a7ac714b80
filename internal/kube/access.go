package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	authorization "k8s.io/api/authorization/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Access is the answer of an access review.
type Access struct {
	Allowed bool
	// Why is the server's explanation. It may be empty.
	Why string
}

// MayI asks the server whether this client may use a verb of RBAC on a resource in a namespace, or
// in all namespaces if it is empty. A subresource follows the name of the resource after a slash.
// The answer does not cover admission.
func (c *Client) MayI(ctx context.Context, verb string, r object.Resource, namespace string) (Access, error) {
	var review authorization.SelfSubjectAccessReview
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	resource, subresource, _ := strings.Cut(r.Name, "/")
	review.Spec.ResourceAttributes = &authorization.ResourceAttributes{
		Verb: verb, Group: r.Group, Version: r.Version, Resource: resource, Subresource: subresource, Namespace: namespace,
	}
	body, err := json.Marshal(&review)
	if err != nil {
		return Access{}, err
	}
	err = c.exchange(ctx, request{
		verb: http.MethodPost, path: []string{"apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"},
		accept: jsonType, body: body, content: jsonType,
	}, &review)
	why := review.Status.Reason
	if review.Status.EvaluationError != "" {
		why += " (" + review.Status.EvaluationError + ")"
	}
	return Access{Allowed: review.Status.Allowed && !review.Status.Denied, Why: why}, err
}

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	authentication "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Identity says which cluster and user a command acts on and as. A person must see it before
// confirming. (spec W21)
type Identity struct {
	// ClusterUID is the uid of namespace kube-system. It is empty without permission to read it.
	ClusterUID types.UID
	// Server is the URL of the API server, Context its name in the kubeconfig.
	Server, Context string
	// User is the name of the user according to the server. It is empty if unknown.
	User string
	// Version is the gitVersion of the server.
	Version string
	// Emulated is the release that the server emulates, as 1.N. It is empty if unknown, as before
	// v1.33.
	Emulated string
}

// Identity reads the identity from the server. An unknown user or uid of kube-system is not an
// error: servers older than 1.26 and roles without these permissions exist.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	id, err := c.Cluster(ctx)
	if err != nil {
		return id, err
	}
	user, err := c.user(ctx)
	if err != nil && !refused(err) {
		return id, fmt.Errorf("the name of the user: %w", err)
	}
	id.User = user.Username
	return id, nil
}

// Cluster is like Identity, without the user. It sends no POST, which reading the user needs.
func (c *Client) Cluster(ctx context.Context) (Identity, error) {
	id := Identity{Server: c.base.String(), Context: c.context}
	info, err := c.info(ctx)
	if err != nil {
		return id, fmt.Errorf("the server's version: %w", err)
	}
	id.Version = info.GitVersion
	if info.EmulationMajor != "" && info.EmulationMinor != "" {
		id.Emulated = info.EmulationMajor + "." + info.EmulationMinor
	}
	ns, err := c.read(ctx, namespaces, object.Namespace.Ref("", "kube-system"))
	switch {
	case err == nil:
		id.ClusterUID = ns.UID
	case !refused(err):
		return id, fmt.Errorf("namespace kube-system: %w", err)
	}
	return id, nil
}

// namespaces is the resource that is needed before discovery.
var namespaces = object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs}

// refused reports whether the server denied the request or does not have the resource.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || isUnserved(err) ||
		apierrors.IsMethodNotSupported(err)
}

func (c *Client) version(ctx context.Context) (string, error) {
	info, err := c.info(ctx)
	return info.GitVersion, err
}

func (c *Client) info(ctx context.Context) (info version.Info, err error) {
	err = c.exchange(ctx, request{verb: http.MethodGet, path: []string{"version"}, accept: jsonType}, &info)
	return info, err
}

// user returns the user that the server sees, which is the impersonated one with impersonation. The
// review is a POST that stores nothing. Servers before v1.28 have it in older versions.
func (c *Client) user(ctx context.Context) (authentication.UserInfo, error) {
	var err error
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		var review authentication.SelfSubjectReview
		review.APIVersion, review.Kind = "authentication.k8s.io/"+version, "SelfSubjectReview"
		body, failed := json.Marshal(&review)
		if failed != nil {
			return authentication.UserInfo{}, failed
		}
		err = c.exchange(ctx, request{
			verb: http.MethodPost, path: []string{"apis", "authentication.k8s.io", version, "selfsubjectreviews"},
			accept: jsonType, body: body, content: jsonType,
		}, &review)
		if err == nil || !apierrors.IsNotFound(err) && !isUnserved(err) {
			return review.Status.UserInfo, err
		}
	}
	return authentication.UserInfo{}, err
}

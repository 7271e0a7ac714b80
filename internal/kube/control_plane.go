package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Lease is a lease of coordination.k8s.io.
type Lease struct {
	// Holder is empty if the lease is not held.
	Holder string
	// Renewed is the last renewal by the clock of the holder; zero if there was none.
	Renewed time.Time
	// Duration is the validity after a renewal.
	Duration time.Duration
	// Read is the server's time of the response; zero if unknown.
	Read time.Time
}

// Lease reads a lease of coordination.k8s.io. apierrors.IsNotFound holds for the error if it does
// not exist.
func (c *Client) Lease(ctx context.Context, namespace, name string) (Lease, error) {
	about := subject{
		resource:  object.Resource{Group: coordination.GroupName, Version: "v1", Name: "leases"},
		namespace: namespace, name: name,
	}
	var l coordination.Lease
	at, err := c.exchangeDated(ctx, request{
		verb: http.MethodGet, path: []string{"apis", coordination.GroupName, "v1", "namespaces", namespace, "leases", name},
		accept: jsonType, about: about,
	}, &l)
	if err == nil && l.Name != name {
		err = &UnexpectedAnswerError{About: about.String(), What: "it is " + quote(l.Name)}
	}
	if err != nil {
		return Lease{}, err
	}
	got := Lease{Read: at}
	if l.Spec.HolderIdentity != nil {
		got.Holder = *l.Spec.HolderIdentity
	}
	if l.Spec.RenewTime != nil {
		got.Renewed = l.Spec.RenewTime.Time
	}
	if l.Spec.LeaseDurationSeconds != nil {
		got.Duration = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return got, nil
}

// CommandLine is the command of a container with all arguments.
type CommandLine struct {
	Pod  object.Ref
	Args []string
}

// maxPods limits the pods that are read for their command lines. No cluster runs more pods of one
// control plane component.
const maxPods = "50"

// CommandLines returns the command lines of all containers of the pods with the labels in a
// namespace.
func (c *Client) CommandLines(ctx context.Context, namespace, labels string) ([]CommandLine, error) {
	about := subject{resource: object.Pod.Resource(), namespace: namespace}
	var list corev1.PodList
	err := c.exchange(ctx, request{
		verb: http.MethodGet, path: []string{"api", "v1", "namespaces", namespace, "pods"},
		query:  url.Values{"labelSelector": {labels}, "limit": {maxPods}},
		accept: jsonType, about: about,
	}, &list)
	if err == nil && list.Kind != "PodList" {
		err = &UnexpectedAnswerError{About: about.String(), What: "it is a " + quote(list.Kind)}
	}
	if err != nil {
		return nil, err
	}
	var lines []CommandLine
	for i := range list.Items {
		p := &list.Items[i]
		ref := object.Pod.Ref(p.Namespace, p.Name)
		ref.UID = p.UID
		for j := range p.Spec.Containers {
			lines = append(lines, CommandLine{Pod: ref, Args: slices.Concat(p.Spec.Containers[j].Command, p.Spec.Containers[j].Args)})
		}
	}
	return lines, nil
}

// errOtherServer is the error for a URL of another server.
var errOtherServer = errors.New("the URL is not one of this API server")

// Serves reports whether a URL belongs to this API server.
func (c *Client) Serves(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && u.Host == c.base.Host
}

// Text returns the response to a GET of a URL of this API server, such as a proxy to a pod. The
// caller must close it.
func (c *Client) Text(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	path, ok := pathUnder(c.base, u)
	if !ok || !c.Serves(u) {
		return nil, errOtherServer
	}
	a, err := c.send(ctx, request{verb: http.MethodGet, path: path, query: u.Query(), accept: "*/*"})
	if err != nil {
		return nil, err
	}
	return a.body, nil
}

// pathUnder returns the unescaped path segments of a URL below the path of base.
func pathUnder(base, u *url.URL) (path []string, ok bool) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), base.EscapedPath()+"/")
	if !ok {
		return nil, false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." {
			return nil, false
		}
		path = append(path, plain)
	}
	return path, true
}

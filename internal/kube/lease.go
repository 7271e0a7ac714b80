package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	coordination "k8s.io/api/coordination/v1"

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
	at, err := c.readWhole(ctx, request{
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

// readWhole is like exchange, and also returns the server's time of the response.
func (c *Client) readWhole(ctx context.Context, r request, into any) (time.Time, error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = a.body.Close() }()
	if a.media != jsonType {
		return time.Time{}, &UnexpectedAnswerError{About: r.about.String(), What: "its type is " + quote(a.media)}
	}
	text, err := io.ReadAll(io.LimitReader(a.body, smallBody))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: the answer broke off: %w", r.about, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return time.Time{}, &UnexpectedAnswerError{About: r.about.String(), What: err.Error()}
	}
	return a.date, nil
}

package deleters

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// InUseError refuses to start in a cluster where others delete objects and end pods.
type InUseError struct {
	// Lease is namespace/name of a lease that was renewed a short time ago.
	Lease  string
	Holder string
	Ago    time.Duration
	// Ask is what a person adds to start all the same, for the text.
	Ask string
}

// Error names the lease, and what to do.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the cluster is in use: %q renewed the lease %s %s ago. This collector is for API servers without controllers: "+
		"here it would end pods of others in their grace period. Use an API server of its own, or add %s", e.Holder, e.Lease, e.Ago, e.Ask)
}

// requireUnused returns an InUseError if kube-controller-manager or the kubelet of a node renews its
// lease. The leases of nodes that a simulation such as kwok renews have another holder.
func (d *Deleters) requireUnused(ctx context.Context) error {
	if err := d.requireExpired(ctx, "kube-system", "kube-controller-manager", ""); err != nil {
		return err
	}
	var nodes []string
	_, err := d.client.List(ctx, kube.Place{Resource: object.Node.Resource()}, kube.Selection{Metadata: true}, kube.Listing{
		Object:  func(o *object.Object) error { nodes = append(nodes, o.Name); return nil },
		Restart: func() { nodes = nil },
	})
	if err != nil && !notTold(err) {
		return err
	}
	for _, name := range nodes {
		if err := d.requireExpired(ctx, "kube-node-lease", name, name); err != nil {
			return err
		}
	}
	return nil
}

// notTold reports whether the server has no such object or kind, or refuses to show it. A config
// without the right to read leases lacks others that Start needs, and it says so.
func notTold(err error) bool {
	_, unserved := errors.AsType[*kube.UnservedPathError](err)
	return unserved || apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
}

// mostSilence is how long a holder that works leaves a lease without renewing it: twice the 40 s of
// a kubelet's, which are longer than the 15 s of kube-controller-manager.
const mostSilence = 80 * time.Second

// requireExpired returns an InUseError if a lease is renewed. If holder is not empty, a lease of
// another holder does not count.
func (d *Deleters) requireExpired(ctx context.Context, namespace, name, holder string) error {
	l, err := d.client.Lease(ctx, namespace, name)
	switch {
	case err != nil && notTold(err):
		return nil
	case err != nil:
		return err
	case l.Renewed.IsZero(), l.Holder == "", holder != "" && l.Holder != holder:
		return nil
	}
	read := l.Read
	if read.IsZero() {
		read = time.Now()
	}
	if ago := read.Sub(l.Renewed); ago < mostSilence {
		return &InUseError{Lease: namespace + "/" + name, Holder: l.Holder, Ago: max(ago, 0).Truncate(time.Second), Ask: d.options.AskInUse}
	}
	return nil
}

package deleters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// inUseError is the error of a start in a cluster with other controllers or kubelets.
type inUseError struct {
	// Lease is namespace/name of a lease that was renewed recently.
	Lease  string
	Holder string
	Ago    time.Duration
	// Ask is the option that allows the start, for the message.
	Ask string
}

// Error names the lease and the remedy.
func (e *inUseError) Error() string {
	return fmt.Sprintf("the cluster is in use: %q renewed the lease %s %s ago. This collector is for API servers without controllers. "+
		"Use an API server of its own, or add %s to wait for what this cluster's controllers and kubelets do", e.Holder, e.Lease, e.Ago, e.Ask)
}

// others are the controllers and kubelets of a cluster that is in use. Their work is awaited and
// not done here.
type others struct {
	// manager is a kube-controller-manager, whose controllers do everything that is done here.
	// kubelet is that of a node, which ends the node's pods.
	manager, kubelet *inUseError
}

// inUse returns why the cluster is in use; nil if it is not.
func (o others) inUse() *inUseError { return cmp.Or(o.manager, o.kubelet) }

// errOthers is the result of a request that is left to kube-controller-manager.
var errOthers = errors.New("kube-controller-manager has not done that yet, and this collector only observes")

// errKubelet is the result of a request that is left to a kubelet.
var errKubelet = errors.New("its kubelet has not ended it yet")

// before returns engine.RunOptions.Before of the collector. It refuses every write if there is a
// kube-controller-manager.
func (o others) before() func(context.Context, engine.Request) error {
	if o.manager == nil {
		return nil
	}
	return func(context.Context, engine.Request) error { return errOthers }
}

// remarks says which work is left to others.
func (o others) remarks() []string {
	switch {
	case o.manager != nil:
		return []string{fmt.Sprintf("%q runs kube-controller-manager: this collector only observes, and waits for what the cluster's controllers do", o.manager.Holder)}
	case o.kubelet != nil:
		return []string{fmt.Sprintf("%q is a kubelet: pods are left to the kubelets", o.kubelet.Holder)}
	}
	return nil
}

// findOthers finds a running kube-controller-manager or kubelet by its renewed lease. The node
// leases that a simulation such as kwok renews have another holder.
func (d *Deleters) findOthers(ctx context.Context) (others, error) {
	var o others
	var err error
	if o.manager, err = d.renewedLease(ctx, "kube-system", "kube-controller-manager", ""); err != nil {
		return o, err
	}
	var nodes []string
	_, err = d.client.List(ctx, kube.Place{Resource: object.Node.Resource()}, kube.Selection{Metadata: true}, kube.Listing{
		Object:  func(o *object.Object) error { nodes = append(nodes, o.Name); return nil },
		Restart: func() { nodes = nil },
	})
	if err != nil && !isNotShown(err) {
		return o, err
	}
	for _, name := range nodes {
		if o.kubelet, err = d.renewedLease(ctx, "kube-node-lease", name, name); err != nil || o.kubelet != nil {
			return o, err
		}
	}
	return o, nil
}

// isNotShown reports whether the server does not have the object or kind, or refuses to show it. A
// config without permission to read leases lacks other permissions that Start reports.
func isNotShown(err error) bool {
	_, unserved := errors.AsType[*kube.UnservedPathError](err)
	return unserved || apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
}

// renewedLease returns the lease if it was renewed recently; nil otherwise. If holder is not empty,
// a lease of another holder does not count.
func (d *Deleters) renewedLease(ctx context.Context, namespace, name, holder string) (*inUseError, error) {
	l, err := d.client.Lease(ctx, namespace, name)
	switch {
	case err != nil && isNotShown(err):
		return nil, nil
	case err != nil:
		return nil, err
	case holder != "" && l.Holder != holder, l.Renewed.IsZero():
		return nil, nil
	}
	read := l.Read
	if read.IsZero() {
		read = time.Now()
	}
	if object.HolderStateOf(l.Holder, l.Renewed.Unix(), int64(l.Duration/time.Second), read.Unix(), 0) != object.HolderAlive {
		return nil, nil
	}
	ago := max(read.Sub(l.Renewed), 0).Truncate(time.Second)
	return &inUseError{Lease: namespace + "/" + name, Holder: l.Holder, Ago: ago, Ask: d.options.AskInUse}, nil
}

package gctest

import "github.com/kubectl-gc/kubectl-gc/internal/deleters"

// Option changes what a GC does.
type Option interface{ apply(*deleters.Options) }

type option func(*deleters.Options)

func (o option) apply(d *deleters.Options) { o(d) }

// Pods says how a pod that is bound to a node ends after its deletion, for no kubelet stops its
// containers. A pod without a node is deleted by the API server at once.
type Pods uint8

// The ends of pods.
const (
	// AtOnce has pods end as soon as they are deleted. It is the default.
	AtOnce Pods = iota
	// AfterGracePeriod has pods end when their grace period is over; WaitSettled waits for it.
	AfterGracePeriod
	// Never leaves pods to the test. WaitSettled does not wait for them.
	Never
)

// WithPods chooses what becomes of pods that are deleted.
func WithPods(p Pods) Option {
	ends := map[Pods]deleters.Pods{AtOnce: deleters.AtOnce, AfterGracePeriod: deleters.AfterGracePeriod, Never: deleters.Never}
	end, known := ends[p]
	if !known {
		end = deleters.Pods(p) // which fails the test that starts
	}
	return option(func(o *deleters.Options) { o.Pods = end })
}

// WithClaimProtection has the finalizers taken off that protect storage in use:
// kubernetes.io/pvc-protection off claims that no pod uses, and kubernetes.io/pv-protection off
// volumes that are not bound. The API server puts them on, and without this option claims and
// volumes that are deleted stay.
func WithClaimProtection() Option {
	return option(func(o *deleters.Options) { o.Protection = true })
}

// WithClusterInUse starts also in a cluster where kube-controller-manager or a kubelet works, so
// that one suite runs on both. Where kube-controller-manager renews its lease, nothing is written:
// WaitSettled waits for what the cluster's own controllers do. Where only kubelets do, pods are left
// to them. Without the option Start fails the test in such a cluster, and on an API server
// without controllers it changes nothing.
func WithClusterInUse() Option {
	return option(func(o *deleters.Options) { o.InUse = true })
}

package gctest

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/deleters"
)

// Option changes what a GC does.
type Option interface{ apply(*deleters.Options) }

type option func(*deleters.Options)

func (o option) apply(d *deleters.Options) { o(d) }

// Pods selects when a deleted pod on a node is removed, since no kubelet does that. The API server
// removes a pod without a node at once.
type Pods uint8

// The values of Pods.
const (
	// AtOnce removes pods as soon as they are deleted. It is the default.
	AtOnce Pods = iota
	// AfterGracePeriod removes pods when their grace period is over. WaitSettled waits for that.
	AfterGracePeriod
	// Never leaves pods to the test. WaitSettled does not wait for them.
	Never
)

// WithPods selects when deleted pods are removed.
func WithPods(p Pods) Option {
	ends := map[Pods]deleters.Pods{AtOnce: deleters.AtOnce, AfterGracePeriod: deleters.AfterGracePeriod, Never: deleters.Never}
	end, known := ends[p]
	if !known {
		end = deleters.Pods(p) // Start then fails the test
	}
	return option(func(o *deleters.Options) { o.Pods = end })
}

// WithPodsAfter removes pods the given time after they are deleted, whatever their grace period is.
// WaitSettled waits for that.
func WithPodsAfter(d time.Duration) Option {
	return option(func(o *deleters.Options) {
		o.Pods, o.PodsAfter = deleters.AfterDuration, d
		if d <= 0 {
			o.Pods = deleters.AtOnce
		}
	})
}

// WithLog sends a line for each delete, and the remarks that Start writes into the log of its test,
// to a function such as log.Printf. Several goroutines call it.
func WithLog(logf func(format string, args ...any)) Option {
	return option(func(o *deleters.Options) {
		o.Log = func(line string) { logf("gctest: %s", line) }
	})
}

// WithClaimProtection removes the finalizers that protect storage in use:
// kubernetes.io/pvc-protection from claims that no pod uses, and kubernetes.io/pv-protection from
// volumes that are not bound. The API server adds them. Without this option, deleted claims and
// volumes stay.
func WithClaimProtection() Option {
	return option(func(o *deleters.Options) { o.Protection = true })
}

// WithClusterInUse lets Start run in a cluster with kube-controller-manager or kubelets, so that one
// suite runs there and in envtest. If kube-controller-manager renews its lease, the collector writes
// nothing, and WaitSettled waits for the cluster's own controllers. If only kubelets renew theirs,
// the pods are left to them. On an API server without controllers, the option changes nothing.
func WithClusterInUse() Option {
	return option(func(o *deleters.Options) { o.InUse = true })
}

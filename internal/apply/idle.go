package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// uncollected explains why no garbage collector seems to run; it is empty if one may run. Call it
// when nothing has moved for a while. It needs three things: work is left for a collector, this run
// has seen none of a collector's work, and kube-controller-manager is not known to be alive.
func (r *run) uncollected(ctx context.Context, left []object.Ref, now map[object.Ref]sight) string {
	waits := func(ref object.Ref) bool {
		o := now[ref].o
		return o != nil && (!o.BeingDeleted() || o.HandlesDependents())
	}
	if !slices.ContainsFunc(left, waits) || r.collected(now) {
		return ""
	}
	alive, why := r.controllerManager(ctx)
	if alive {
		return ""
	}
	return fmt.Sprintf("no garbage collector seems to run in this cluster: nothing has changed for %s, and %s", r.o.patience(), why)
}

// podGCTakes is how long pod GC may take after a node has gone: it checks every 20 seconds, and
// gives the node 40 seconds to come back.
//
// Upstream: pkg/controller/podgc/gc_controller.go gcCheckPeriod, quarantineTime.
const podGCTakes = 75 * time.Second

// due returns the objects that should have changed by now. Those that pod GC deletes have more
// time.
func (r *run) due(left []object.Ref, quiet time.Duration) []object.Ref {
	if quiet > podGCTakes {
		return left
	}
	return slices.DeleteFunc(slices.Clone(left), func(ref object.Ref) bool {
		return slices.ContainsFunc(r.expected, func(e expectation) bool { return e.Object == report.RefOf(ref) && e.Controller == plan.PodGC })
	})
}

// collected reports whether an object was deleted that only a garbage collector deletes.
func (r *run) collected(now map[object.Ref]sight) bool {
	written := map[report.Ref]bool{}
	for _, w := range r.order {
		written[report.RefOf(w.write.Object)] = true
	}
	return slices.ContainsFunc(r.expected, func(e expectation) bool {
		s, looked := now[object.Ref(e.Object)]
		return e.When == report.AtOnce && e.takes() && looked && s.err == nil && s.gone() && !written[e.Object]
	})
}

// controllerManager reports whether a kube-controller-manager is known to be alive. One without
// leader election can't be detected.
func (r *run) controllerManager(ctx context.Context) (alive bool, why string) {
	l, err := r.client.Lease(ctx, object.ManagerLease.Namespace, object.ManagerLease.Name)
	switch _, unserved := errors.AsType[*kube.UnservedPathError](err); {
	case apierrors.IsNotFound(err) || unserved:
		return false, "there is no Lease of a kube-controller-manager"
	case err != nil:
		return false, "the Lease of the kube-controller-manager cannot be read"
	case l.Renewed.IsZero() || l.Holder == "":
		return false, "the Lease of kube-controller-manager has no holder"
	}
	read := l.Read
	if read.IsZero() {
		read = r.o.Now()
	}
	if object.PulseOf(l.Holder, l.Renewed.Unix(), int64(l.Duration/time.Second), read.Unix(), 0) != object.PulseBeats {
		return false, fmt.Sprintf("the Lease of the kube-controller-manager was renewed last %s ago", read.Sub(l.Renewed).Round(time.Second))
	}
	return true, ""
}

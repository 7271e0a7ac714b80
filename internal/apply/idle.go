package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// uncollected says that nobody seems to collect in the cluster; empty when that
// cannot be said. It is asked when nothing has moved for a while: something has to
// be left for a collector to do, nothing may have gone in this run that only a collector
// takes, and the controller manager, in which it runs, must not be known to be alive.
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

// podGCTakes is how long pod GC may take after a node has gone: it looks every 20 seconds, and
// waits for 40 in which the node may come back.
//
// Upstream: pkg/controller/podgc/gc_controller.go gcCheckPeriod, quarantineTime.
const podGCTakes = 75 * time.Second

// due returns those of the objects that are left that should have moved when nothing has moved for
// so long: those that pod GC deletes take their time.
func (r *run) due(left []object.Ref, quiet time.Duration) []object.Ref {
	if quiet > podGCTakes {
		return left
	}
	return slices.DeleteFunc(slices.Clone(left), func(ref object.Ref) bool {
		return slices.ContainsFunc(r.expected, func(e expectation) bool { return e.Object == report.RefOf(ref) && e.Controller == plan.PodGC })
	})
}

// collected reports whether something has gone that nobody but a collector takes.
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

// lease is what of the controller manager's Lease says whether it is alive.
type lease struct {
	Spec struct {
		HolderIdentity       string    `json:"holderIdentity"`
		LeaseDurationSeconds int       `json:"leaseDurationSeconds"`
		RenewTime            time.Time `json:"renewTime"`
	} `json:"spec"`
}

// controllerManager reports whether a kube-controller-manager is known to be alive.
// One that does not elect a leader cannot be told from none.
func (r *run) controllerManager(ctx context.Context) (alive bool, why string) {
	raw, _, err := r.client.Raw(ctx, object.ManagerLease)
	switch _, unknown := errors.AsType[*object.UnknownKindError](err); {
	case apierrors.IsNotFound(err) || unknown:
		return false, "there is no Lease of a kube-controller-manager"
	case err != nil:
		return false, "the Lease of the kube-controller-manager cannot be read"
	}
	var l lease
	if err := json.Unmarshal(raw, &l); err != nil || l.Spec.RenewTime.IsZero() || l.Spec.HolderIdentity == "" {
		return false, "the Lease of kube-controller-manager has no holder"
	}
	if age := r.o.Now().Sub(l.Spec.RenewTime); age > 4*time.Duration(l.Spec.LeaseDurationSeconds)*time.Second {
		return false, fmt.Sprintf("the Lease of the kube-controller-manager was renewed last %s ago", age.Round(time.Second))
	}
	return true, ""
}

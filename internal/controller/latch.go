package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// FuseAnnotation is on the lease while the fuse is blown: when it was, and why. A
// process that begins to lead and finds it writes nothing. Only a person takes it off.
const FuseAnnotation = "kubectl-gc.io/fuse-blown"

// latch keeps a blown fuse blown when the process ends: what a restart would make
// whole, the kubelet would.
type latch struct {
	leases coordination.LeasesGetter
	lease  Lease
}

// read is what stands on the lease; empty when the fuse is whole. A lease that cannot
// be read is an error: it may say so.
func (l latch) read(ctx context.Context) (why string, uid types.UID, err error) {
	have, err := l.leases.Leases(l.lease.Namespace).Get(ctx, l.lease.Name, metav1.GetOptions{})
	if err != nil {
		return "", "", fmt.Errorf("whether the fuse is blown stands on the lease: %w", err)
	}
	why, there := have.Annotations[FuseAnnotation]
	if there && why == "" {
		why = "nobody says why"
	}
	return why, have.UID, nil
}

// write puts it on the lease, again and again until it is there, and returns the uid
// of the lease. What stands there already stays. When the context ends it is tried
// once more.
func (l latch) write(ctx context.Context, why string, failed func(error)) types.UID {
	for {
		last := ctx.Err() != nil
		uid, err := l.put(context.WithoutCancel(ctx), why)
		if err == nil {
			return uid
		}
		failed(err)
		if last {
			return ""
		}
		pause := time.NewTimer(l.lease.Retry)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// put tries it once. The lease is renewed meanwhile, which is a conflict.
func (l latch) put(ctx context.Context, why string) (types.UID, error) {
	ctx, stop := context.WithTimeout(ctx, glance)
	defer stop()
	leases := l.leases.Leases(l.lease.Namespace)
	var conflict error
	for range 5 {
		have, err := leases.Get(ctx, l.lease.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if _, there := have.Annotations[FuseAnnotation]; there {
			return have.UID, nil
		}
		metav1.SetMetaDataAnnotation(&have.ObjectMeta, FuseAnnotation, why)
		_, conflict = leases.Update(ctx, have, metav1.UpdateOptions{})
		if !apierrors.IsConflict(conflict) {
			return have.UID, conflict
		}
	}
	return "", errors.Join(errors.New("the lease is written to all the time"), conflict)
}

// mend is what a person does about it.
func (l latch) mend() string {
	return fmt.Sprintf("when you know why, kubectl annotate lease %s -n %s %s- and start the controller anew", l.lease.Name, l.lease.Namespace, FuseAnnotation)
}

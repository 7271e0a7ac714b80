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

// trippedAnnotation is on the lease while the safety limit has tripped: when it was, and why. A
// process that begins to lead and finds it writes nothing. Only a person takes it off.
const trippedAnnotation = "kubectl-gc.io/safety-limit-tripped"

// tripRecord keeps a tripped limit tripped when the process ends: what a restart would
// reset, the kubelet would.
type tripRecord struct {
	leases coordination.LeasesGetter
	lease  Lease
}

// read is what stands on the lease; empty when it has not tripped. A lease that cannot
// be read is an error: it may say so.
func (l tripRecord) read(ctx context.Context) (why string, uid types.UID, err error) {
	have, err := l.leases.Leases(l.lease.Namespace).Get(ctx, l.lease.Name, metav1.GetOptions{})
	if err != nil {
		return "", "", fmt.Errorf("whether the safety limit has tripped stands on the lease: %w", err)
	}
	why, there := have.Annotations[trippedAnnotation]
	if there && why == "" {
		why = "nobody says why"
	}
	return why, have.UID, nil
}

// write puts it on the lease, again and again until it is there, and returns the uid
// of the lease. What stands there already stays. When the context ends it is tried
// once more.
func (l tripRecord) write(ctx context.Context, why string, failed func(error)) types.UID {
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
func (l tripRecord) put(ctx context.Context, why string) (types.UID, error) {
	ctx, stop := context.WithTimeout(ctx, glance)
	defer stop()
	leases := l.leases.Leases(l.lease.Namespace)
	var conflict error
	for range 5 {
		have, err := leases.Get(ctx, l.lease.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if _, there := have.Annotations[trippedAnnotation]; there {
			return have.UID, nil
		}
		metav1.SetMetaDataAnnotation(&have.ObjectMeta, trippedAnnotation, why)
		_, conflict = leases.Update(ctx, have, metav1.UpdateOptions{})
		if !apierrors.IsConflict(conflict) {
			return have.UID, conflict
		}
	}
	return "", errors.Join(errors.New("the lease is written to all the time"), conflict)
}

// reset is what a person does about it.
func (l tripRecord) reset() string {
	return fmt.Sprintf("when you know why, kubectl annotate lease %s -n %s %s- and start the controller anew", l.lease.Name, l.lease.Namespace, trippedAnnotation)
}

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

// trippedAnnotation is on the lease while the safety limit is tripped. Its value has the time and
// the reason. A new leader that finds it writes nothing. Only a person removes it.
const trippedAnnotation = "kubectl-gc.io/safety-limit-tripped"

// tripRecord keeps a tripped limit across restarts. Otherwise a restart by the kubelet would reset
// it.
type tripRecord struct {
	leases coordination.LeasesGetter
	lease  Lease
}

// read returns the reason on the lease; empty if the limit is not tripped. An unreadable lease is
// an error, because it may have a reason.
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

// write writes the reason to the lease, with retries, and returns the uid of the lease. An existing
// reason is kept. After the end of the context it tries once more.
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

// put tries to write once. A conflict with a renewal of the lease is retried.
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

// reset returns the instructions for resetting the limit.
func (l tripRecord) reset() string {
	return fmt.Sprintf("when you know why, kubectl annotate lease %s -n %s %s- and start the controller anew", l.lease.Name, l.lease.Namespace, trippedAnnotation)
}

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// errAnotherCollector says that another garbage collector works in this cluster. Two collectors may
// both delete, but only one may remove the collector's finalizers, because each relies on its own
// graph.
var errAnotherCollector = errors.New("another garbage collector is at work in this cluster: start kube-controller-manager with --controllers=*,-garbage-collector-controller, or observe, or use strict rules")

// between is the interval of checks of the canary.
const between = 500 * time.Millisecond

// lookForAnother creates an object that is garbage and returns errAnotherCollector if it is
// deleted. Its annotation protects it from controllers of this program. Kubernetes does not know
// the annotation.
func (s *service) lookForAnother(ctx context.Context) error {
	s.o.Log.Info("looking for another collector", "for", s.o.CheckFor)
	maps := s.core.ConfigMaps(s.o.CheckNamespace)
	canary, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "kubectl-gc-canary-",
		Annotations:  map[string]string{"kubectl-gc.io/protect": "true"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "kubectl-gc-never-existed", UID: uuid.NewUUID(),
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("the look for another collector (--check-collector): %w", err)
	}
	gone, err := vanishes(ctx, s.o.CheckFor, func() (bool, error) {
		_, err := maps.Get(ctx, canary.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	if gone {
		return errAnotherCollector
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), glance)
	defer cancel()
	end := maps.Delete(clean, canary.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(canary.UID))})
	if apierrors.IsNotFound(end) && err == nil {
		return errAnotherCollector
	}
	return errors.Join(err, end)
}

// vanishes reports whether an object is deleted within a time. A failed check is repeated. If the
// last check failed, its error is returned, because it may hide the deletion.
func vanishes(ctx context.Context, within time.Duration, gone func() (bool, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(min(between, within))
	defer tick.Stop()
	var err error
	for {
		select {
		case <-ctx.Done():
			return false, err
		case <-tick.C:
		}
		var went bool
		if went, err = gone(); went {
			return true, nil
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
}

package deleters

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Pods says what becomes of a pod on a node that is being deleted, where there is no kubelet.
type Pods uint8

// The ends of pods.
const (
	// AtOnce: they end when they are deleted.
	AtOnce Pods = iota
	// AfterGracePeriod: they end when their grace period is over.
	AfterGracePeriod
	// Never: they stay until somebody else ends them.
	Never
)

// kubelets are the kubelets of all nodes, whether or not there are nodes.
type kubelets struct {
	controllers.Controller
	graceful bool
	// real: there are others than these, which end the pods.
	real bool
	// due is when the next pod ends; zero for none.
	due time.Time
}

// Step ends the pods whose time has come.
func (k *kubelets) Step(ctx context.Context, w controllers.World) (bool, error) {
	k.due = time.Time{}
	return k.Controller.Step(ctx, shift{World: w, kubelets: k, now: time.Now()})
}

// shift is what kubelets see at one moment: no node is missing, and pods whose time has not
// come are not there.
type shift struct {
	controllers.World
	kubelets *kubelets
	now      time.Time
}

// ObjectsOf lists the objects of one resource.
func (s shift) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	if gr == object.Node.GroupResource() {
		return nil
	}
	all := s.World.ObjectsOf(gr, namespace)
	if gr != object.Pod.GroupResource() || !s.kubelets.graceful {
		return all
	}
	var list []*object.Object
	for _, pod := range all {
		if ends := ends(pod); pod.BeingDeleted() && ends.After(s.now) {
			if s.kubelets.due.IsZero() || ends.Before(s.kubelets.due) {
				s.kubelets.due = ends
			}
			continue
		}
		list = append(list, pod)
	}
	return list
}

// Delete ends a pod, unless that is left to its kubelet.
func (s shift) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if s.kubelets.real {
		return errKubelet
	}
	return s.World.Delete(ctx, ref, o)
}

// Update writes the phase of a pod, unless that is left to its kubelet.
func (s shift) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	if s.kubelets.real {
		return nil, errKubelet
	}
	return s.World.Update(ctx, o)
}

// ends is when the grace period of a pod is over that is being deleted. The server leaves out the
// parts of a second.
func ends(pod *object.Object) time.Time { return time.Unix(pod.DeletionTimestamp()+1, 0) }

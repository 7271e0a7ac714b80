package deleters

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Pods says how a deleted pod on a node ends without a kubelet.
type Pods uint8

// The values of Pods.
const (
	// AtOnce: pods end when they are deleted.
	AtOnce Pods = iota
	// AfterGracePeriod: pods end after their grace period.
	AfterGracePeriod
	// Never: pods stay until a client deletes them with a grace period of 0.
	Never
)

// kubelets simulates the kubelets of all nodes, whether or not the nodes exist.
type kubelets struct {
	controllers.Controller
	graceful bool
	// real is true if the cluster has kubelets, which end the pods.
	real bool
	// due is when the next pod ends; zero for none.
	due time.Time
}

// Step ends the pods whose grace period is over.
func (k *kubelets) Step(ctx context.Context, w controllers.World) (bool, error) {
	k.due = time.Time{}
	return k.Controller.Step(ctx, shift{World: w, kubelets: k, now: time.Now()})
}

// shift is the world as kubelets see it at one moment: no node is missing, and pods within their
// grace period are hidden.
type shift struct {
	controllers.World
	kubelets *kubelets
	now      time.Time
}

// ObjectsOf returns the visible objects of one resource.
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

// ends returns when the grace period of a deleted pod is over. It adds a second, because the server
// truncates fractions.
func ends(pod *object.Object) time.Time { return time.Unix(pod.DeletionTimestamp()+1, 0) }

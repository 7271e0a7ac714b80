package controllers_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestKubeletPicksPods lists which pods the kubelet finishes.
func TestKubeletPicksPods(t *testing.T) {
	for _, test := range []struct {
		name  string
		world string
		goes  bool
	}{
		{"not being deleted", "v1 Pod s/p node=n1 phase=Running", false},
		{"grace period runs", "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30", true},
		{"negative grace in storage", "v1 Pod s/p node=n1 phase=Running deleting grace=-1", true},
		{"held by a finalizer only", "v1 Pod s/p node=n1 phase=Running deleting grace=0 fin=x/y", false},
		{"held by nothing", "v1 Pod s/p node=n1 phase=Running deleting grace=0", true},
		{"held by nothing, no grace noted", "v1 Pod s/p node=n1 phase=Running deleting", true},
		{"held by a finalizer, no grace noted", "v1 Pod s/p node=n1 phase=Running deleting fin=x/y", false},
		{"no facts", "v1 Pod s/p deleting=+30 grace=30", true},
		{"no facts among nodes", "v1 Pod s/p deleting=+30 grace=30\nv1 Node n1", true},
		{"node exists", "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30\nv1 Node n1", true},
		{"node is missing", "v1 Pod s/p node=n2 phase=Running deleting=+30 grace=30\nv1 Node n1", false},
		{"never scheduled", "v1 Pod s/p node= deleting=+30 grace=30", false},
		{"mirror pod", "v1 Pod s/p node=n1 phase=Running mirror deleting=+30 grace=30", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := server(t, test.world)
			k := controllers.Kubelet(controllers.Healthy{})
			acted, err := k.Step(t.Context(), w, controllers.To(w))
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Get(t.Context(), object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "s", Name: "p"})
			if gone := apierrors.IsNotFound(err); gone != test.goes || acted != test.goes {
				t.Errorf("gone %v, acted %v, want both %v", gone, acted, test.goes)
			}
			if again, _ := k.Step(t.Context(), w, controllers.To(w)); again {
				t.Error("a second pass changed something")
			}
		})
	}
}

// TestKubeletRequest: the request has no grace, the UID as precondition and no policy.
func TestKubeletRequest(t *testing.T) {
	var sent []metav1.DeleteOptions
	w := &tapped{Server: server(t, "v1 Pod s/p uid=u node=n1 phase=Running deleting=+30 grace=30")}
	w.deletes = func(_ object.Ref, o metav1.DeleteOptions) error {
		sent = append(sent, o)
		return nil
	}
	settle(t, controllers.Kubelet(controllers.Healthy{}), w)
	want := []metav1.DeleteOptions{*metav1.NewPreconditionDeleteOptions("u")}
	want[0].GracePeriodSeconds = new(int64(0))
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestKubeletIgnoresTheGone: another client deleted the pod first.
func TestKubeletIgnoresTheGone(t *testing.T) {
	w := &tapped{Server: server(t, "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30")}
	w.deletes = func(ref object.Ref, _ metav1.DeleteOptions) error {
		return apierrors.NewNotFound(podResource, ref.Name)
	}
	k := controllers.Kubelet(controllers.Healthy{})
	if n := settle(t, k, w); n != 0 || len(k.Waiting()) != 0 {
		t.Errorf("acted %d times, waits %v", n, waits(k))
	}
}

// TestPodGCPicksPods lists which pods pod GC removes.
func TestPodGCPicksPods(t *testing.T) {
	for _, test := range []struct {
		name     string
		world    string
		coverage controllers.Coverage
		goes     bool
	}{
		{"node is missing", "v1 Pod s/p node=n2 phase=Running\nv1 Node n1", whole, true},
		{"node exists", "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30\nv1 Node n1", whole, false},
		{"no node in the world", "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30", whole, false},
		{"no node in the world, alive", "v1 Pod s/p node=n1 phase=Running", whole, false},
		{"nodes not covered, alive", "v1 Pod s/p node=n2 phase=Running\nv1 Node n1", partly{"Node": ""}, false},
		{"nodes not covered, being deleted", "v1 Pod s/p node=n2 phase=Running deleting=+30 grace=30\nv1 Node n1", partly{"Node": ""}, true},
		{"never scheduled", "v1 Pod s/p node=\nv1 Node n1", whole, false},
		{"never scheduled, being deleted", "v1 Pod s/p node= deleting grace=0", whole, true},
		{"no facts", "v1 Pod s/p deleting=+30 grace=30\nv1 Node n1", whole, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := server(t, test.world)
			g := controllers.PodGC(test.coverage, controllers.Healthy{})
			settle(t, g, w)
			_, err := w.Get(t.Context(), object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "s", Name: "p"})
			if gone := apierrors.IsNotFound(err); gone != test.goes {
				t.Errorf("gone %v, want %v", gone, test.goes)
			}
		})
	}
}

// TestPodGCMarksFirst: a pod that cannot be marked Failed is not deleted, and the delete has no
// precondition.
func TestPodGCMarksFirst(t *testing.T) {
	w := &tapped{Server: server(t, "v1 Node n1\nv1 Pod s/a node=n2 phase=Running\nv1 Pod s/b node=n2 phase=Failed")}
	w.updates = func(o *object.Object) error {
		if o.Pod().Phase != "Failed" {
			t.Errorf("%s: phase %s", o.Ref, o.Pod().Phase)
		}
		return apierrors.NewForbidden(podResource, o.Name, errors.New("no"))
	}
	var deleted []string
	w.deletes = func(ref object.Ref, o metav1.DeleteOptions) error {
		deleted = append(deleted, ref.Name)
		if o.Preconditions != nil || o.PropagationPolicy != nil || *o.GracePeriodSeconds != 0 {
			t.Errorf("%s: options %v", ref, o)
		}
		return nil
	}
	g := controllers.PodGC(whole, controllers.Healthy{})
	settle(t, g, w)
	if diff := cmp.Diff([]string{"b"}, deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	want := []string{`pod-gc: v1 Pod s/a Refused pods: pods "a" is forbidden: no`}
	if diff := cmp.Diff(want, waits(g)); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	pods := object.Resource{Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true}
	if diff := cmp.Diff(pods, g.Waiting()[0].Resource); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
}

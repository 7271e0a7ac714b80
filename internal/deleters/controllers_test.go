package deleters

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A deleted pod ends at once, or after its grace period. Until then its end is known.
func TestPods(t *testing.T) {
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		graceful bool
		// deleted is when it was deleted, in seconds before now.
		deleted int64
		ends    bool
	}{
		"at once":          {false, 0, true},
		"within its grace": {true, 0, false},
		"after its grace":  {true, 700, true},
	} {
		t.Run(name, func(t *testing.T) {
			rs := &object.Resources{}
			rs.Add(object.Resource{Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true, Verbs: object.AllVerbs})
			rs.Add(object.Resource{Version: "v1", Name: "nodes", Kind: "Node", Verbs: object.AllVerbs})
			grace := int64(600)
			pod := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "web"}}
			pod.Edit().Facts = &object.PodFacts{NodeName: "nowhere", Phase: "Running", TerminationGracePeriod: &grace}
			w := apisim.New([]*object.Object{pod}, rs, apisim.WithClock(now-c.deleted))
			if err := w.Delete(t.Context(), pod.Ref, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			k := &kubelets{Controller: controllers.Kubelet(controllers.Healthy{}), graceful: c.graceful}
			acted, err := k.Step(t.Context(), w, controllers.To(w))
			if left := len(w.Objects()); err != nil || acted != c.ends || left > 0 == c.ends {
				t.Errorf("acted %v, %d left, %v", acted, left, err)
			}
			if c.ends != k.due.IsZero() {
				t.Errorf("the next one ends at %v", k.due)
			}
			if !c.ends && k.due.Unix() < now+grace {
				t.Errorf("it ends at %v, %d s after it was deleted", k.due, k.due.Unix()-now)
			}
		})
	}
}

package gctest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// leases answers requests for leases, by their paths.
func leases(of map[string]string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		at, ok := strings.CutPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/")
		text := of[at]
		if !ok || text == "" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
		return true
	}
}

func lease(name, holder string, age time.Duration) string {
	return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q},"spec":{"holderIdentity":%q,"leaseDurationSeconds":40,"renewTime":%q}}`,
		name, holder, time.Now().Add(-age).UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// TestClusterInUse: a cluster whose controllers or kubelets work is left alone. If the test wants
// both, what a controller manager does is waited for and not done.
func TestClusterInUse(t *testing.T) {
	const manager, kubelet = "kube-system/leases/kube-controller-manager", "kube-node-lease/leases/n1"
	for name, x := range map[string]struct {
		leases  map[string]string
		refused []string
	}{
		"no lease":                   {nil, nil},
		"a controller manager":       {map[string]string{manager: lease("kube-controller-manager", "master_1", 5*time.Second)}, []string{"the cluster is in use", `"master_1"`, "kube-system/kube-controller-manager", "gctest.WithClusterInUse()"}},
		"one that has ended":         {map[string]string{manager: lease("kube-controller-manager", "master_1", time.Hour)}, nil},
		"one that gave the lease up": {map[string]string{manager: lease("kube-controller-manager", "", time.Second)}, nil},
		"a clock that is ahead":      {map[string]string{manager: lease("kube-controller-manager", "master_1", -time.Hour)}, []string{"the cluster is in use", "0s ago"}},
		"a kubelet":                  {map[string]string{kubelet: lease("n1", "n1", 30*time.Second)}, []string{"the cluster is in use", `"n1"`, "kube-node-lease/n1"}},
		"a kubelet that has ended":   {map[string]string{kubelet: lease("n1", "n1", time.Hour)}, nil},
		"a simulated node":           {map[string]string{kubelet: lease("n1", "kwok", time.Second)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			node := &object.Object{Ref: object.Node.Ref("", "n1")}
			node.UID = "n1"
			nodes := object.Resource{Version: "v1", Name: "nodes", Kind: "Node", Verbs: object.AllVerbs}
			s := serveAlso([]object.Resource{nodes}, nil, configMap("orphaned", "nobody"), node)
			s.before = leases(x.leases)
			t.Cleanup(s.close)
			var a attempt
			said := a.run(func(a *attempt) {
				gc := gctest.Start(a, s.config())
				if err := gc.WaitSettled(t.Context()); err != nil {
					a.Errorf("%v", err)
				}
			})
			mentions(t, said, x.refused...)
			there := ""
			if x.refused != nil {
				there = "orphaned"
			}
			if a.failed != (x.refused != nil) || s.there() != there {
				t.Errorf("there are %q, want %q; failed: %t\n%s", s.there(), there, a.failed, said)
			}
			if x.refused == nil {
				return
			}
			gc := gctest.Start(t, s.config(), gctest.WithClusterInUse())
			if x.leases[manager] == "" { // the kubelet deletes no garbage
				if err := gc.WaitSettled(t.Context()); err != nil || s.there() != "" {
					t.Errorf("there are %q: %v", s.there(), err)
				}
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			err := gc.WaitSettled(ctx)
			if err == nil || s.there() != "orphaned" {
				t.Fatalf("there are %q: %v", s.there(), err)
			}
			mentions(t, err.Error(), "orphaned", "kube-controller-manager has not done that yet")
		})
	}
}

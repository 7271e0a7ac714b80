package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Of what is being deleted already it is read whether kube-controller-manager runs, and
// of a namespace what its controller says: they tell who is late.
func TestNeighboursOfWhatGoes(t *testing.T) {
	claims := object.Resource{Version: "v1", Name: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true}
	const shop, node, budgets = "/api/v1/namespaces/shop", "/api/v1/nodes/n1", "/apis/policy/v1/poddisruptionbudgets"
	live := terminating(claims, "shop", "data")
	live.Edit().DeletionTimestamp = 0
	nodeThatLives := terminating(object.Node.Resource(), "", "n1")
	nodeThatLives.Edit().DeletionTimestamp = 0
	for name, c := range map[string]struct {
		written *object.Object
		read    []string
	}{
		"a PVC that lives":    {live, nil},
		"a PVC that goes":     {terminating(claims, "shop", "data"), []string{leasePath}},
		"a namespace, and so": {terminating(namespaces, "", "shop"), []string{leasePath, shop}},
		"a node that lives":   {nodeThatLives, []string{node, budgets}},
	} {
		s, client := serve(t)
		s.serves(nil, evidence.ResourceOf(evidence.Leases), evidence.ResourceOf(evidence.Namespaces), evidence.ResourceOf(evidence.Nodes), evidence.ResourceOf(evidence.Budgets))
		servesEvidence(s)
		if _, err := client.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.on(leasePath, missing(object.Resource{Group: "coordination.k8s.io", Name: "leases"}, "kube-controller-manager"))
		s.on(shop, func(w http.ResponseWriter, r *http.Request) {
			answerJSON(manifestOf{"kind": "Namespace", "apiVersion": "v1", "metadata": manifestOf{"name": "shop"}, "status": manifestOf{
				"conditions": []manifestOf{{"type": "NamespaceDeletionContentFailure", "status": "True", "message": "it fails"}},
			}})(w, r)
		})
		seen, err := client.Neighbours(t.Context(), Reach{Written: []*object.Object{c.written}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{leasePath, shop, node, budgets} {
			asked := slices.ContainsFunc(s.requests(path), func(r string) bool {
				asked, _, _ := strings.Cut(strings.TrimPrefix(r, "GET "), "?")
				return asked == path
			})
			if want := slices.Contains(c.read, path); asked != want {
				t.Errorf("%s: asked for %s: %v, want %v", name, path, asked, want)
			}
		}
		if told := len(seen.Namespaces) == 1 && seen.Namespaces[0].Conditions[0].Message == "it fails"; told != slices.Contains(c.read, shop) {
			t.Errorf("%s: %+v", name, seen.Namespaces)
		}
	}
}

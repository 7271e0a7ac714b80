package kube

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// For objects that are being deleted the lease of kube-controller-manager is read, and for
// namespaces their conditions. They show which controller is overdue.
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
		s.serves(nil, health.ResourceOf(health.Leases), health.ResourceOf(health.Namespaces), health.ResourceOf(health.Nodes), health.ResourceOf(health.Budgets))
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

// TestNeighboursUser: the user is read once if a policy that may apply uses it, in the version that
// the server has. It stays unknown on errors.
func TestNeighboursUser(t *testing.T) {
	const reviews = "/apis/authentication.k8s.io/v1beta1/selfsubjectreviews"
	byUser, byName := `request.userInfo.username == "ann"`, `oldObject.metadata.name == "a"`
	for name, c := range map[string]struct {
		expression, group string
		status, asked     int
		user              string
	}{
		"no policy asks":          {byName, "example.com", http.StatusCreated, 0, ""},
		"a policy of other kinds": {byUser, "apps", http.StatusCreated, 0, ""},
		"a policy asks":           {byUser, "example.com", http.StatusCreated, 1, "ann"},
		"it is refused":           {byUser, "example.com", http.StatusForbidden, 1, ""},
	} {
		s, client := serve(t)
		s.serves(nil, health.ResourceOf(health.Policies), health.ResourceOf(health.PolicyBindings))
		servesEvidence(s)
		if _, err := client.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		policies := health.ResourceOf(health.Policies)
		s.on("/"+strings.Join(Place{Resource: policies}.path(), "/"), whole(policies, "", manifestOf{"metadata": manifestOf{"name": "p"}, "spec": manifestOf{
			"matchConstraints": manifestOf{"resourceRules": []any{manifestOf{"apiGroups": []string{c.group}, "apiVersions": []string{"*"}, "operations": []string{"DELETE"}, "resources": []string{"*"}}}},
			"validations":      []any{manifestOf{"expression": c.expression}},
		}}))
		s.on(reviews, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, `{"status":{"userInfo":{"username":"ann","groups":["dev"]}}}`)
		})
		o := terminating(widgets, "shop", "a")
		seen, err := client.Neighbours(t.Context(), Reach{Written: []*object.Object{o, o}})
		if err != nil {
			t.Fatal(err)
		}
		user := ""
		if seen.User != nil {
			user = seen.User.Username
		}
		if n := len(s.requests(reviews)); n != c.asked || user != c.user {
			t.Errorf("%s: asked %d times, user %q", name, n, user)
		}
	}
}

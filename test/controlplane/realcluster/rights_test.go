package realcluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A user with fewer rights is judged by OwnerReferencesPermissionEnforcement: he
// may not let an object block the deletion of an owner whose finalizers he may not
// change, nor change the owners of an object that he may not delete.
//
// Shows: S244, S245
func TestRights(t *testing.T) {
	const configMaps = "/api/v1/namespaces/s244/configmaps"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s244"}}`)
	t.Cleanup(func() {
		if err := plane.Wipe("configmaps/s244/"); err != nil {
			t.Error(err)
		}
	})
	type named struct{ Metadata struct{ UID string } }
	for _, name := range []string{"owner", "dependent"} {
		post(t, configMaps, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	owner := read[named](t, configMaps+"/owner").Metadata.UID
	allow := func(user, rules string) {
		t.Helper()
		const rights = "/apis/rbac.authorization.k8s.io/v1/namespaces/s244/"
		post(t, rights+"roles", fmt.Sprintf(`{"metadata":{"name":%q},"rules":[%s]}`, user, rules))
		post(t, rights+"rolebindings", fmt.Sprintf(`{"metadata":{"name":%[1]q},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%[1]q}],`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":%[1]q}}`, user))
	}
	const change = `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","create","update","patch"]}`
	const changeAndDelete = `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","create","update","patch","delete"]}`
	const finalizers = `{"apiGroups":[""],"resources":["configmaps/finalizers"],"resourceNames":["owner"],"verbs":["update"]}`
	allow("changer", change)
	allow("deleter", changeAndDelete)
	allow("finalizer", changeAndDelete+","+finalizers)

	refs := func(block string) string {
		return fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q%s}]}}`, owner, block)
	}
	const blocking = `,"blockOwnerDeletion":true`
	const none = `{"metadata":{"ownerReferences":null}}`
	const (
		noFinalizers = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
		noDelete     = "cannot set an ownerRef on a resource you can't delete"
		noMapping    = "cannot set blockOwnerDeletion in this case because cannot find RESTMapping"
	)
	for _, c := range []struct {
		user, body, refused string
	}{
		{"changer", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"changer", refs(""), noDelete},
		{"changer", refs(blocking), noDelete},
		{"deleter", refs(blocking), noFinalizers},
		{"deleter", refs(""), ""},
		{"deleter", refs(blocking), noFinalizers}, // that was not blocking before
		{"finalizer", strings.Replace(refs(blocking), `"v1"`, `"nowhere.example.com/v1"`, 1), noMapping},
		{"finalizer", refs(blocking), ""},
		{"changer", `{"metadata":{"labels":{"a":"c"}}}`, ""}, // that changes no reference
		{"changer", none, noDelete},
		{"deleter", refs(blocking), ""}, // that is blocking already
		{"deleter", refs(""), ""},
		{"deleter", none, ""},
	} {
		// A new binding takes the server a moment to notice.
		await(t, func() string {
			r := ask(t, c.user, http.MethodPatch, configMaps+"/dependent", "application/merge-patch+json", c.body)
			switch {
			case c.refused == "" && r.code == http.StatusOK, c.refused != "" && r.code == http.StatusForbidden && strings.Contains(r.refusal.Message, c.refused):
				return ""
			default:
				return fmt.Sprintf("%s, %s: wanted %q, got %d %s", c.user, c.body, c.refused, r.code, r.refusal.Message)
			}
		})
	}
	// To create one asks for the owner's finalizers alone.
	create := strings.Replace(refs(blocking), `"metadata":{`, `"metadata":{"name":"new",`, 1)
	if r := ask(t, "changer", http.MethodPost, configMaps, "application/json", create); r.code != http.StatusForbidden || !strings.Contains(r.refusal.Message, noFinalizers) {
		t.Errorf("created with a blocking reference: %d %s", r.code, r.refusal.Message)
	}
	create = strings.Replace(refs(""), `"metadata":{`, `"metadata":{"name":"new",`, 1)
	if r := ask(t, "changer", http.MethodPost, configMaps, "application/json", create); r.code != http.StatusCreated {
		t.Errorf("created with a reference that does not block: %d %s", r.code, r.refusal.Message)
	}
	// Administrators may do everything.
	patch(t, configMaps+"/dependent", refs(blocking))
}

package realcluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition is a CustomResourceDefinition of a kind.
func definition(name, kind, scope string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},`+
		`"spec":{"group":%q,"scope":%q,"names":{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"},`+
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		name, group, scope, plural, strings.ToLower(kind), kind, kind)
}

// define makes a kind and waits until it is served and discovered. The kind goes with
// the test.
func define(t *testing.T, name, kind, scope string) {
	t.Helper()
	post(t, definitions, definition(name, kind, scope))
	t.Cleanup(func() {
		if exists(t, definitions+"/"+name) {
			remove(t, definitions+"/"+name, "")
		}
	})
	plural, group, _ := strings.Cut(name, ".")
	if err := plane.Serves(t.Context(), group, plural, "v1"); err != nil {
		t.Fatal(err)
	}
}

// The first delete of a definition takes no policy, the second one does; the
// collector takes its finalizer off again. Admission is not asked about instances.
//
// Shows: S194, S195
func TestDefinitionDeletedTwice(t *testing.T) {
	controllers(t, collector, "namespace-controller")
	s := begin(t, ofControllers+"s195_definition_deleted_twice.txt")
	s.cluster(1)
	deny(t, "s195", "example.com", "widgets", "true")
	const instance = "/apis/example.com/v1/namespaces/s195-shop/widgets/w"
	awaitDenied(t, instance)
	s.do("delete crd policy=Foreground")
	s.sees("MODIFIED apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com deleting fin=[customresourcecleanup.apiextensions.k8s.io] defines=example.com/v1:Widget:widgets established terminating")
	s.sees("MODIFIED example.com/v1 Widget shop/w deleting grace=0 fin=[x/y]")
	var answer metav1.PartialObjectMetadata
	if err := json.Unmarshal(s.do("delete crd policy=Foreground").body, &answer); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(answer.Finalizers, ","); got != "customresourcecleanup.apiextensions.k8s.io,foregroundDeletion" {
		t.Errorf("the answer to the second delete has the finalizers %s", got)
	}
	s.sees("MODIFIED apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com deleting grace=0 fin=[customresourcecleanup.apiextensions.k8s.io] defines=example.com/v1:Widget:widgets established terminating")
	s.do("patch merge w fin=")
	s.sees("DELETED apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com deleting grace=0 fin=[customresourcecleanup.apiextensions.k8s.io] defines=example.com/v1:Widget:widgets established terminating")
}

// A definition whose names belong to another one never comes into force and goes
// without its instances: they are there when it comes back and does.
//
// Shows: S196
func TestDefinitionNeverEstablished(t *testing.T) {
	const first, second = "firsts.s196.example.com", "seconds.s196.example.com"
	define(t, first, "Same", "Namespaced")
	post(t, definitions, definition(second, "Same", "Namespaced"))
	type conditions struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	await(t, func() string {
		have := fmt.Sprint(read[conditions](t, definitions+"/"+second).Status.Conditions)
		if !strings.Contains(have, "{NamesAccepted False}") {
			return "its names are not refused: " + have
		}
		return ""
	})
	if err := plane.Store([]cluster.Stored{{Key: "s196.example.com/seconds/default/w", Manifest: []byte(
		`{"apiVersion":"s196.example.com/v1","kind":"Same","metadata":{"name":"w","namespace":"default","uid":"s196-w","creationTimestamp":"2026-01-01T00:00:00Z"}}`)}}); err != nil {
		t.Fatal(err)
	}
	remove(t, definitions+"/"+second, "")
	awaitGone(t, definitions+"/"+second)
	remove(t, definitions+"/"+first, "")
	awaitGone(t, definitions+"/"+first)
	define(t, second, "Same", "Namespaced")
	type named struct{ Metadata struct{ UID string } }
	if uid := read[named](t, "/apis/s196.example.com/v1/namespaces/default/seconds/w").Metadata.UID; uid != "s196-w" {
		t.Errorf("the instance is another one: %q", uid)
	}
}

const admission = "/apis/admissionregistration.k8s.io/v1/"

// deny has admission refuse to delete objects of a resource of which an expression
// is true, as long as the test runs.
func deny(t *testing.T, name, group, resource, expression string) {
	t.Helper()
	post(t, admission+"validatingadmissionpolicies", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"failurePolicy":"Fail",`+
		`"matchConstraints":{"resourceRules":[{"apiGroups":[%q],"apiVersions":["v1"],"operations":["DELETE"],"resources":[%q]}]},`+
		`"validations":[{"expression":"!(%s)","reason":"Forbidden"}]}}`, name, group, resource, expression))
	post(t, admission+"validatingadmissionpolicybindings", fmt.Sprintf(`{"metadata":{"name":%[1]q},"spec":{"policyName":%[1]q,"validationActions":["Deny"]}}`, name))
	t.Cleanup(func() {
		remove(t, admission+"validatingadmissionpolicybindings/"+name, "")
		remove(t, admission+"validatingadmissionpolicies/"+name, "")
	})
}

// awaitDenied waits until admission refuses to delete an object.
func awaitDenied(t *testing.T, path string) {
	t.Helper()
	await(t, func() string {
		if r := ask(t, "", http.MethodDelete, path, "application/json", `{"dryRun":["All"]}`); r.code != http.StatusForbidden {
			return fmt.Sprintf("the policy is not in force: %d %s", r.code, r.refusal.Message)
		}
		return ""
	})
}

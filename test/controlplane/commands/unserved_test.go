package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// definition is a CRD of widgets in a group of the test's own.
func (s *stage) definition() (text, group string) {
	group = s.namespace + ".example.com"
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.` + group + `}, spec: {group: ` + group +
		`, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList},` +
		` versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`, group
}

// TestUnservedMeanwhile has a kind not served any more after its object was deleted, with
// the dependent that a finalizer holds: the object is in storage still, and nothing shows
// that it is gone.
func TestUnservedMeanwhile(t *testing.T) {
	s := enter(t, collector)
	crd, group := s.definition()
	s.create(crd)
	defer s.kubectl(nil, "delete", "crd", "widgets."+group, "--wait=false")
	s.until("widgets are served", func() bool {
		_, err := plane.Kubectl(s.ctx, nil, "get", "widgets."+group, "-n", s.namespace)
		return err == nil
	})
	s.create(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: below, finalizers: [example.com/lock], ` +
		`ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ` + s.configMap("owner", "", "") + `}]}}`)
	args := []string{"delete", "configmap/owner", "-n", s.namespace, "-o", "json", "--patience=1s", "--timeout=30s"}
	confirm := s.confirmation(args...)
	serve := func(served string) {
		s.kubectl(nil, "patch", "crd", "widgets."+group, "--type=json", "-p", `[{"op":"replace","path":"/spec/versions/0/served","value":`+served+`}]`)
	}
	ctx := s.during("after-write-1", func() {
		serve("false")
		s.until("widgets are not served any more", func() bool {
			return !strings.Contains(string(s.kubectl(nil, "api-resources", "--api-group="+group, "-o", "name")), "widgets")
		})
	})
	r := s.gc(ctx, append(args, confirm)...).want(t, 6).run(t)
	if r.State != report.Unseen || r.Summary.Gone != 1 {
		t.Errorf("%s: %+v", r.State, r.Summary)
	}
	serve("true")
	s.until("it was there all the time", func() bool {
		out, err := plane.Kubectl(s.ctx, nil, "patch", "widgets."+group+"/below", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		return err == nil && strings.Contains(string(out), "below")
	})
}

// TestUnseenContent deletes a namespace of which some content was not seen, since a kind may
// not be listed: what is there may be protected. It is refused,
// unless --unlock=unseen says otherwise, which the digest covers. A collection leaves such a
// namespace alone.
func TestUnseenContent(t *testing.T) {
	const rules = `[{apiGroups: [""], resources: [namespaces, nodes, secrets, pods, services, serviceaccounts, persistentvolumes, persistentvolumeclaims], verbs: [get, list, delete]},` +
		`{apiGroups: [apps, batch, rbac.authorization.k8s.io], resources: ["*"], verbs: [get, list, delete]}]`
	for _, verb := range []string{"delete", "collect"} {
		t.Run(verb, func(t *testing.T) {
			s := enter(t)
			s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {kubectl-gc.io/protect: "true"}}}`)
			args := []string{"delete", "namespace/" + s.namespace, "--wait=false"}
			if verb == "collect" {
				s.kubectl(nil, "patch", "namespace", s.namespace, "--type=merge", "-p",
					`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"gone","uid":"x"}]}}`)
				defer s.kubectl(nil, "patch", "namespace", s.namespace, "--type=merge", "-p", `{"metadata":{"ownerReferences":null}}`)
				args = []string{"collect", "-A", "--patience=1s"}
			}
			r := reader{name: "cluster", everywhere: rules}
			s.admit(r)
			args = append(args, "--as="+r.user(s))
			before := s.world()
			args = append(args, "--unlock=namespace")
			if verb == "collect" { // it leaves alone what is unknown
				s.gc(s.ctx, args...).want(t, 0, "unknown", "nothing to collect")
				s.unchanged(before)
				return
			}
			s.typed(s.ctx, s.said(), args...).want(t, 5, "not all objects that would be deleted with ns/", "configmaps (Forbidden)", "--unlock=namespace,unseen")
			s.unchanged(before)
			confirm := s.confirmation(append(args, "--unlock=unseen")...)
			s.gc(s.ctx, append(args, confirm)...).want(t, 5, "not all objects that would be deleted with ns/")
			s.unchanged(before)
			s.gc(s.ctx, append(args, "--unlock=unseen", confirm)...).want(t, 0)
		})
	}
}

// TestAdmissionPolicy has the API server keep what is annotated, with the policy that `rbac
// --for=protect` prints: a delete by anybody is refused, one of something else is not, and a
// namespace with something protected in it stays until the annotation is removed.
func TestAdmissionPolicy(t *testing.T) {
	s := enter(t, collector, "namespace-controller")
	printed := s.gc(s.ctx, "rbac", "--for=protect").want(t, 0)
	s.kubectl([]byte(printed.stdout), "apply", "-f", "-")
	defer s.kubectl([]byte(printed.stdout), "delete", "-f", "-")
	protected := func(name, value string) {
		s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, annotations: {kubectl-gc.io/protect: "` + value + `"}}}`)
	}
	refused := func(args ...string) string {
		_, err := plane.Kubectl(s.ctx, nil, append(args, "-n", s.namespace)...)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	protected("kept", "true")
	s.until("the policy is in force", func() bool {
		return strings.Contains(refused("delete", "configmap/kept", "--dry-run=server"), "remove the annotation first")
	})

	for _, value := range []string{"False", " false", "FALSE", "no", ""} {
		protected("odd", value)
		if got := refused("delete", "configmap/odd"); !strings.Contains(got, "forbidden") {
			t.Errorf("%q: %s", value, got)
		}
		s.kubectl(nil, "annotate", "configmap/odd", "-n", s.namespace, "kubectl-gc.io/protect-")
		if got := refused("delete", "configmap/odd"); got != "" {
			t.Errorf("the annotation was removed, and yet: %s", got)
		}
	}
	protected("free", "false")
	s.configMap("plain", "", "")
	for _, name := range []string{"free", "plain"} {
		if got := refused("delete", "configmap/"+name); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := refused("delete", "configmaps", "--all"); !strings.Contains(got, "remove the annotation first") {
		t.Errorf("all of them: %s", got)
	}

	s.configMap("below", "owner", s.configMap("owner", "", ""))
	s.configMap("beside", "owner", s.uid("owner"))
	s.kubectl(nil, "annotate", "configmap/below", "-n", s.namespace, "kubectl-gc.io/protect=true")
	if got := refused("delete", "configmap/owner"); got != "" {
		t.Errorf("the owner: %s", got)
	}
	s.until("the collector takes the other dependent", func() bool { return s.uid("beside") == "" })
	s.collecting()
	if s.uid("below") == "" {
		t.Error("the collector has taken a protected dependent")
	}

	other := enterAs(t, s.namespace+"-other", collector, "namespace-controller")
	other.configMap("plain", "", "")
	there := func(namespace string) bool {
		return len(s.kubectl(nil, "get", "namespace", namespace, "--ignore-not-found", "-o", "name")) > 0
	}
	s.kubectl(nil, "delete", "namespace", other.namespace, s.namespace, "--wait=false")
	s.until("a namespace without anything protected goes", func() bool { return !there(other.namespace) })
	s.until("the other one says what it waits for", func() bool {
		out := s.kubectl(nil, "get", "namespace", s.namespace, "-o", "jsonpath={.status.conditions[?(@.type==\"NamespaceDeletionContentFailure\")]}")
		return strings.Contains(string(out), `"status":"True"`) && strings.Contains(string(out), "remove the annotation first")
	})
	t.Logf("%s", s.kubectl(nil, "get", "namespace", s.namespace, "-o", "jsonpath={.status.conditions[?(@.status==\"True\")]}"))
	s.configMaps("below", "kept")
	s.kubectl(nil, "annotate", "configmap", "--all", "-n", s.namespace, "kubectl-gc.io/protect-")
	s.until("the namespace goes", func() bool { return !there(s.namespace) })
}

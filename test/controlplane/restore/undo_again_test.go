package restore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const recreated = `
apiVersion: v1
kind: Namespace
metadata: {name: again}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: again}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: again, labels: {app: web}}
data: {colour: red, size: "3"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same, namespace: again}
data: {a: b}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: again}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: lost, namespace: again}
`

// of are the objects of a namespace that were made by hand.
func (s *scene) of(namespace string) objects {
	s.Helper()
	all := s.inNamespace(namespace)
	maps.DeleteFunc(all, func(_ string, x *seen) bool {
		return slices.Contains([]string{"Namespace", "ServiceAccount", "Event", "EndpointSlice", "Endpoints"}, x.Kind) || x.Name == "kube-root-ca.crt"
	})
	return all
}

// What somebody has made again is compared with what was saved: it differs or not, and is
// overwritten only if that is asked for. Values of Secrets are shown nowhere.
func TestExistsAgain(t *testing.T) {
	s := enter(t)
	s.create(recreated)
	dir := s.bundle(s.of("again"), s.here())
	for _, name := range []string{"secret/password", "configmap/settings", "configmap/same", "service/web", "configmap/lost"} {
		s.kubectl("", "delete", name, "-n", "again")
	}
	s.kubectl("", "create", "secret", "generic", "password", "-n", "again", "--from-literal=password=other")
	s.kubectl("", "create", "configmap", "settings", "-n", "again", "--from-literal=colour=blue", "--from-literal=more=x")
	s.kubectl("", "create", "configmap", "same", "-n", "again", "--from-literal=a=b")
	s.kubectl("", "create", "service", "clusterip", "web", "-n", "again", "--tcp=80")
	s.kubectl("", "patch", "service/web", "-n", "again", "--type=json", "-p",
		`[{"op":"remove","path":"/metadata/labels"},{"op":"replace","path":"/spec/selector","value":{"app":"web"}},{"op":"remove","path":"/spec/ports/0/name"}]`)

	dry := s.gc("undo", dir, "--dry-run", "--diff")
	for _, text := range []string{"1 object would be restored", "2 objects exist again and differ", "- blue", "+ red", `metadata.labels.app`, "- x", "secret/password in namespace again: data.password"} {
		if !strings.Contains(dry.out, text) {
			t.Errorf("no %q in\n%s", text, dry.out)
		}
	}
	if strings.Contains(dry.out, "aHVudGVyMg") || dry.code != 4 {
		t.Errorf("exit code %d\n%s", dry.code, dry.out)
	}
	found := digests.FindStringSubmatch(dry.errOut)
	if found == nil {
		t.Fatal(dry.errOut)
	}
	a := s.gc("undo", dir, "--confirm="+found[1])
	if a.code != 6 || !strings.Contains(a.out, "1 made, 2 differ, 2 left unchanged") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	if a := s.gc("undo", dir); a.code != 4 || !strings.Contains(a.out, "nothing is restored") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	s.says("nothing was overwritten", "configmap/settings -n again", "{.data.colour}", "blue")

	u := s.undone(dir, "--overwrite", "--diff")
	if u.Summary.Restored != 2 || u.Summary.Differs != 0 || u.State != report.Complete {
		t.Errorf("%s %+v", u.State, u.Summary)
	}
	s.says("the saved content is there", "configmap/settings -n again", "{.data}{.metadata.labels}", `{"colour":"red","size":"3"}{"app":"web"}`)
	s.says("the saved password is there", "secret/password -n again", "{.data.password}", "aHVudGVyMg==")
	if again := s.again(dir); len(again.Steps) != 0 || again.Incomplete() {
		t.Errorf("a further undo would do %+v", again.Steps)
	}
	s.kubectl("", "delete", "namespace/again", "--wait=false")
}

const recolouring = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: recolour}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "replace", path: "/data/colour", value: "green"}, JSONPatch{op: "add", path: "/data/more", value: "x"}]'}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: recolour}
spec: {policyName: recolour, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: recoloured}}, objectSelector: {matchLabels: {app: web}}}}
`

// TestServerChangesWhatIsMade checks that an undo tells which values the server stored otherwise than they were saved.
func TestServerChangesWhatIsMade(t *testing.T) {
	s := enter(t)
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: recoloured}}")
	const web = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: recoloured, labels: {app: web}}, data: {colour: red, size: big}}"
	s.create(web)
	s.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: recoloured}, data: {colour: red}}")
	dir := s.bundle(s.of("recoloured"), s.here())
	s.kubectl("", "delete", "configmap/web", "configmap/other", "-n", "recoloured")
	s.create(recolouring)
	cluster.Until(t, "the policy is in force", func() bool {
		return s.kubectl(web, "create", "-f", "-", "--dry-run=server", "-o", "jsonpath={.data.colour}") == "green"
	})
	a := s.confirmed("undo", dir, "--diff")
	for _, text := range []string{"2 made, 1 of them changed by the server", "1 object was made with other values", "data.colour", "- green", "+ red", "data.more", "- x"} {
		if !strings.Contains(a.out, text) {
			t.Errorf("no %q in\n%s", text, a.out)
		}
	}
	if a.code != 6 || strings.Contains(a.out, "--overwrite") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	s.kubectl("", "delete", "configmap/web", "-n", "recoloured")
	s.create(web)
	a = s.confirmed("undo", dir, "--overwrite", "--diff")
	if a.code != 6 || !strings.Contains(a.out, "1 differs") || !strings.Contains(a.out, "changed what was written") || !strings.Contains(a.out, "- green") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	s.kubectl("", "delete", "mutatingadmissionpolicy/recolour", "mutatingadmissionpolicybinding/recolour", "namespace/recoloured", "--wait=false")
}

// operate is an operator: it makes a Secret of every Engine, with a password of its own, and a
// ConfigMap, unless there is one. It ends with the test.
func (s *scene) operate(namespace string) {
	s.Helper()
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	s.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			uid, err := s.plane.Kubectl(ctx, nil, "get", "engine/main", "-n", namespace, "-o", "jsonpath={.metadata.uid}", "--ignore-not-found")
			if err != nil || len(uid) == 0 {
				continue
			}
			for _, kind := range []string{"Secret", "ConfigMap"} {
				_, _ = s.plane.Kubectl(ctx, []byte(`{apiVersion: v1, kind: `+kind+`, metadata: {name: of-main, namespace: `+namespace+`,
  ownerReferences: [{apiVersion: undo.example.com/v1, kind: Engine, name: main, uid: `+string(uid)+`, controller: true}]}, data: {password: bmV3}}`), "create", "-f", "-")
			}
		}
	}()
}

// The dependents of a custom resource are there before its operator sees it, with the saved
// content; and what the operator has made again before the undo differs.
func TestOperatorMakesItAgain(t *testing.T) {
	s := enter(t)
	s.define()
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: operated}}")
	s.create(strings.ReplaceAll(engine, "NS", "operated"))
	uid := s.kubectl("", "get", "engine/main", "-n", "operated", "-o", "jsonpath={.metadata.uid}")
	for _, kind := range []string{"Secret", "ConfigMap"} {
		s.create(`{apiVersion: v1, kind: ` + kind + `, metadata: {name: of-main, namespace: operated,
  ownerReferences: [{apiVersion: undo.example.com/v1, kind: Engine, name: main, uid: ` + uid + `, controller: true}]}, data: {password: b2xk}}`)
	}
	before := s.of("operated")
	dir := s.bundle(before, s.here())
	s.collected("operated", "lamps")
	s.kubectl("", "delete", "engine/main", "-n", "operated")
	s.gone("/api/v1/namespaces/operated/secrets/of-main")
	s.gone("/api/v1/namespaces/operated/configmaps/of-main")
	s.operate("operated")
	if u := s.undone(dir); u.Summary.Made != 3 || u.Summary.Restored != 2 || u.State != report.Complete {
		t.Errorf("%s %+v", u.State, u.Summary)
	}
	owner := s.kubectl("", "get", "engine/main", "-n", "operated", "-o", "jsonpath={.metadata.uid}")
	for _, name := range []string{"secret/of-main", "configmap/of-main"} {
		s.says(name+" is as it was", name+" -n operated", "{.data.password} {.metadata.ownerReferences[*].uid}", "b2xk "+owner)
	}

	// One of them is deleted, and the operator is faster.
	s.kubectl("", "delete", "secret/of-main", "-n", "operated")
	s.says("the operator makes it again", "secret/of-main -n operated", "{.data.password}", "bmV3")
	a := s.gc("undo", dir, "-o", "json")
	var u report.Undo
	if err := json.Unmarshal([]byte(a.out), &u); err != nil || a.code != 4 || u.Summary.Differs != 1 || !skipped(&u, "Secret", "of-main", "Differs") {
		t.Errorf("exit code %d, %v\n%s%s", a.code, err, a.out, a.errOut)
	}
	if u := s.undone(dir, "--overwrite"); u.Summary.Restored != 1 {
		t.Errorf("%s %+v", u.State, u.Summary)
	}
	s.says("it is as it was", "secret/of-main -n operated", "{.data.password}", "b2xk")
	s.kubectl("", "delete", "namespace/operated", "--wait=false")
}

// The fields of what comes back belong to those that wrote them: the next server-side apply of
// their managers does not conflict, and still takes away what it does not mention any more.
func TestManagersComeBack(t *testing.T) {
	s := enter(t)
	s.define()
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: managed}}")
	apply := func(manager, colour, rest string) error {
		for _, manifest := range []string{
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: managed}, data: {colour: ` + colour + rest + `}}`,
			`{apiVersion: undo.example.com/v1, kind: Engine, metadata: {name: main, namespace: managed}, spec: {colour: ` + colour + rest + `}}`,
		} {
			if _, err := s.plane.Kubectl(s.ctx, []byte(manifest), "apply", "--server-side", "--field-manager="+manager, "-f", "-"); err != nil {
				return err
			}
		}
		return nil
	}
	s.check(apply("app", "red", ", size: big"))
	s.kubectl("", "patch", "engine/main", "-n", "managed", "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Runs"}}`)
	uid := s.kubectl("", "get", "engine/main", "-n", "managed", "-o", "jsonpath={.metadata.uid}")
	s.kubectl(`{apiVersion: v1, kind: ConfigMap, metadata: {name: below, namespace: managed,
  ownerReferences: [{apiVersion: undo.example.com/v1, kind: Engine, name: main, uid: `+uid+`}]}, data: {a: b}}`, "apply", "--server-side", "--field-manager=app", "-f", "-")
	dir := s.bundle(s.of("managed"), s.here())
	s.kubectl("", "delete", "engine/main", "configmap/settings", "-n", "managed")
	s.gone("/api/v1/namespaces/managed/configmaps/below")

	if u := s.undone(dir); u.Summary.Made != 3 || u.Summary.Restored != 2 {
		t.Errorf("%+v", u.Summary)
	}
	// One that was killed behind the creation has left all fields with this program.
	s.kubectl("", "patch", "configmap/settings", "-n", "managed", "--type=merge", "-p", `{"metadata":{"managedFields":[
  {"manager":"kubectl-gc","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:colour":{},"f:size":{}}}}]}}`)
	if u := s.undone(dir); len(u.Steps) != 1 || u.Steps[0].Verb != "Manage" || u.Summary.Restored != 1 || u.State != report.Complete {
		t.Errorf("%s %+v", u.State, u.Steps)
	}
	for _, name := range []string{"configmap/settings", "engine/main", "configmap/below"} {
		managers := s.kubectl("", "get", name, "-n", "managed", "--show-managed-fields", "-o", "jsonpath={.metadata.managedFields[*].manager}")
		if strings.Contains(managers, "kubectl-gc") || !strings.Contains(managers, "app") {
			t.Errorf("%s is managed by %s", name, managers)
		}
	}
	if err := apply("other", "green", ""); err == nil {
		t.Error("another manager takes the fields without a conflict")
	}
	s.check(apply("app", "blue", ""))
	s.says("the next apply has its effect", "configmap/settings -n managed", "{.data}", `{"colour":"blue"}`)
	s.says("the next apply has its effect", "engine/main -n managed", "{.spec}{.status.phase}", `{"colour":"blue"}Runs`)
	s.kubectl("", "delete", "namespace/managed", "--wait=false")
}

// A Service keeps its addresses, unless others have them by now.
func TestAddressesAreTaken(t *testing.T) {
	s := enter(t)
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: taken}}")
	s.create("{apiVersion: v1, kind: Service, metadata: {name: web, namespace: taken}, spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, nodePort: 30123}]}}")
	s.create("{apiVersion: v1, kind: Service, metadata: {name: free, namespace: taken}, spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}}")
	const addresses = "{.spec.clusterIP} {.spec.ports[0].nodePort}"
	ip := s.kubectl("", "get", "service/web", "-n", "taken", "-o", "jsonpath={.spec.clusterIP}")
	free := s.kubectl("", "get", "service/free", "-n", "taken", "-o", "jsonpath="+addresses)
	dir := s.bundle(s.of("taken"), s.here())
	s.kubectl("", "delete", "service/web", "service/free", "-n", "taken")
	s.create("{apiVersion: v1, kind: Service, metadata: {name: other, namespace: taken}, spec: {type: NodePort, clusterIP: " + ip + ", ports: [{port: 80, nodePort: 30123}]}}")
	u := s.undone(dir)
	if u.Summary.Made != 2 || !noted(u, "web", "AddressesDropped") || noted(u, "free", "AddressesDropped") {
		t.Errorf("%+v", u.Steps)
	}
	s.says("the addresses that are free are kept", "service/free -n taken", addresses, free)
	s.kubectl("", "delete", "namespace/taken", "--wait=false")
}

// A custom resource that ran to its end is left out, unless it is asked for.
func TestFinishedWorkIsLeftOut(t *testing.T) {
	s := enter(t)
	s.define()
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: finished}}")
	s.create(strings.ReplaceAll(engine, "NS", "finished"))
	s.kubectl("", "patch", "engine/main", "-n", "finished", "--subresource=status", "--type=merge", "-p", `{"status":{"completionTime":"2026-11-24T13:58:00Z"}}`)
	dir := s.bundle(s.of("finished"), s.here())
	s.kubectl("", "delete", "engine/main", "-n", "finished")
	a := s.gc("undo", dir)
	if a.code != 0 || !strings.Contains(a.out, "it had finished") || !strings.Contains(a.out, "--finished") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	if u := s.undone(dir, "--finished"); u.Summary.Made != 1 || u.Summary.Restored != 1 || !noted(u, "main", "RunsAgain") {
		t.Errorf("%+v", u)
	}
	s.says("it has its status", "engine/main -n finished", "{.status.completionTime}", "2026-11-24T13:58:00Z")
	s.kubectl("", "delete", "namespace/finished", "--wait=false")
}

// Somebody has applied the CRD again, and its instances had come since history begins: what was
// in a namespace is told, and the command that is told brings that back and nothing else.
func TestDefinitionMadeAgainWithoutBackup(t *testing.T) {
	const namespace, other = "shop-q", "shop-r"
	s := enter(t)
	since := s.revision()
	before := s.lit(namespace)
	s.lit(other)
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	for _, ns := range []string{namespace, other} {
		s.gone("/api/v1/namespaces/" + ns + "/configmaps/below-4")
		cluster.Until(t, "what the instances owned is gone", func() bool {
			return s.kubectl("", "get", "configmaps", "-n", ns, "-o", "name") == "configmap/kube-root-ca.crt"
		})
	}
	s.define()
	u := s.remembered("--since-revision="+since, "-n", namespace)
	told := 0
	for i := range u.Lost.Losses {
		if l := &u.Lost.Losses[i]; before[keyOf(l.Object.APIVersion, l.Object.Kind, l.Object.Namespace, l.Object.Name)] != nil {
			told++
		}
	}
	if told != len(before) {
		t.Errorf("%d of %d objects are told: %+v", told, len(before), u.Lost.Losses)
	}
	if len(u.Lost.Remedies) != 1 || !strings.Contains(u.Lost.Remedies[0].Command, " -n "+namespace+" --kubeconfig=") {
		t.Errorf("%+v", u.Lost.Remedies)
	}
	u = s.undone(u.Bundle)
	s.back(before, u, func() objects { return s.inNamespace(namespace) })
	if left := s.kubectl("", "get", "lamps", "-n", other, "-o", "name"); left != "" {
		t.Errorf("and in another namespace: %s", left)
	}

	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	s.kubectl(strings.Replace(definitions[:strings.Index(definitions, "---")], "name: v1", "name: v9", 1), "apply", "-f", "-")
	var gap bool
	for _, g := range s.remembered("--since-revision="+since, "-n", namespace).Lost.Gaps {
		gap = gap || g.Resource == "lamps" && g.APIVersion == "undo.example.com/v1" && g.Why == "CRDVersionGone"
	}
	if !gap {
		t.Error("nothing is said of a version that is not served any more")
	}
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	s.kubectl("", "delete", "namespace/"+namespace, "namespace/"+other, "--wait=false")
}

// Whoever has rights in one namespace only brings back what was deleted there. Without the leases
// nobody knows when that was: --since is refused, and said to be ignored where nothing is written.
func TestUndoWithRightsInOneNamespace(t *testing.T) {
	s := enter(t)
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop-dev}}")
	s.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: dev, namespace: shop-dev}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`)
	s.kubectl("", "create", "rolebinding", "dev", "-n", "shop-dev", "--role=dev", "--user=dev")
	s.kubectl("", "create", "configmap", "early", "-n", "shop-dev")
	s.kubectl("", "create", "configmap", "late", "-n", "shop-dev")
	s.kubectl("", "delete", "configmap/early", "-n", "shop-dev")
	since := s.revision()
	s.kubectl("", "delete", "configmap/late", "-n", "shop-dev")
	cluster.Until(t, "the role has come into force", func() bool {
		_, err := s.plane.Kubectl(s.ctx, nil, "get", "namespace/shop-dev", "--as=dev")
		return err == nil
	})

	a := s.gc("lost", "-n", "shop-dev", "--since=1s", "--as=dev")
	for _, text := range []string{"--since was not applied", "kubectl gc undo --since-revision="} {
		if !strings.Contains(a.out, text) || a.code != 0 {
			t.Errorf("exit code %d, no %q in\n%s%s", a.code, text, a.out, a.errOut)
		}
	}
	if a := s.gc("undo", "-n", "shop-dev", "--since=1s", "--as=dev"); a.code != 5 || !strings.Contains(a.errOut, "list leases in namespace kube-system") {
		t.Errorf("exit code %d: %s", a.code, a.errOut)
	}
	if a := s.gc("lost", "-A", "--as=dev"); a.code != 1 || !strings.Contains(a.errOut, "-n NAMESPACE") {
		t.Errorf("exit code %d: %s", a.code, a.errOut)
	}

	plan := s.remembered("-n", "shop-dev", "--since-revision="+since, "--as=dev")
	if len(plan.Steps) != 1 || plan.Steps[0].Object.Name != "late" {
		t.Errorf("%+v", plan.Steps)
	}
	if u := s.undone(plan.Bundle, "--as=dev"); u.Summary.Made != 1 {
		t.Errorf("%s, %+v", u.SameCluster, u.Summary)
	}
	if a := s.gc("lost", "configmap/late", "-n", "shop-dev"); !strings.Contains(a.out, " exists again;") || strings.Contains(a.out, "kubectl gc undo") {
		t.Errorf("what is there again: %s", a.out)
	}
	a = s.gc("undo", "configmap/never", "--lost", "-n", "shop-dev")
	if want := "undo: nothing to do. cm/never -n shop-dev was not "; a.code != 0 || !strings.HasPrefix(a.out, want) {
		t.Errorf("exit code %d: %s%s", a.code, a.out, a.errOut)
	}
	s.kubectl("", "delete", "namespace/shop-dev", "--wait=false")
}

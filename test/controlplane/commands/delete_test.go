package commands

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      containers: [{name: web, image: web}]
`

// TestDeleteDeployment deletes a Deployment with everything below it, under each
// policy: what happens is what was predicted.
func TestDeleteDeployment(t *testing.T) {
	for _, policy := range []string{"background", "foreground", "orphan"} {
		t.Run(policy, func(t *testing.T) {
			s := enter(t, collector, deployments, replicas)
			s.deployed()
			a := s.confirmed("delete", "deployment/web", "-n", s.namespace, "--cascade="+policy, "-o", "json")
			r := a.want(t, 0, "gone").run(t)
			if r.State != report.Complete || len(r.Differences) > 0 || r.Summary.Confirmed != 1 {
				t.Errorf("%+v", r)
			}
			left := len(s.names("Pod")) + len(s.names("ReplicaSet"))
			if want := map[string]int{"orphan": 4}[policy]; left != want || len(s.names("Deployment")) > 0 {
				t.Errorf("%d objects are left, want %d: %v", left, want, s.world())
			}
		})
	}
}

// deployed makes the Deployment and waits until its controllers have written all that
// they write: without a kubelet its pods never run. After that nothing of it changes,
// and a plan stays as it is.
func (s *stage) deployed() {
	s.t.Helper()
	s.create(deployment)
	s.until("three pods, and both controllers have said so", func() bool {
		return len(s.names("Pod")) == 3 &&
			s.says("deployments", `{.items[*].metadata.generation}{.items[*].status.observedGeneration} {.items[*].status.replicas}{.items[*].status.updatedReplicas}{.items[*].status.unavailableReplicas} `+
				`{.items[*].status.conditions[?(@.type=="Progressing")].reason}`) == "11 333 ReplicaSetUpdated" &&
			s.says("replicasets", `{.items[*].metadata.generation}{.items[*].status.observedGeneration} {.items[*].status.replicas}{.items[*].status.fullyLabeledReplicas}`) == "11 33"
	})
}

// TestDeleteHeld deletes what a finalizer holds: it says so, and gives up.
func TestDeleteHeld(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/lock]}}`)
	a := s.confirmed("delete", "configmap/held", "-n", s.namespace, "--timeout=2s", "-o", "json")
	r := a.want(t, 6, "cm/held waits (finalizer example.com/lock)").run(t)
	if r.State != report.TimedOut || len(r.Differences) > 0 || len(r.Pending) != 1 {
		t.Errorf("%+v", r)
	}
	s.kubectl(nil, "patch", "configmap/held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestDeleteUncollected deletes where nobody collects: it says so, and who does.
func TestDeleteUncollected(t *testing.T) {
	s := enter(t)
	s.configMap("below", "owner", s.configMap("owner", "", ""))
	a := s.confirmed("delete", "configmap/owner", "-n", s.namespace, "--patience=1s")
	a.want(t, 6, "no garbage collector seems to run in this cluster", "`kubectl gc collect -n "+s.namespace+" ")
	if diff := cmp.Diff([]string{"below"}, s.names("ConfigMap")); diff != "" {
		t.Error(diff)
	}
}

// TestDeleteUncollectedNamespace deletes a namespace where no namespace controller runs: a collector
// would not help, and none is recommended.
func TestDeleteUncollectedNamespace(t *testing.T) {
	s := enter(t)
	s.configMap("content", "", "")
	a := s.confirmed("delete", "namespace/"+s.namespace, "--unlock=namespace", "--patience=1s")
	a.want(t, 6, "no kube-controller-manager seems to run in this cluster")
	if strings.Contains(a.stdout+a.stderr, "kubectl gc collect") {
		t.Errorf("collect does not delete what a namespace contains:\n%s%s", a.stdout, a.stderr)
	}
	if err := plane.Controllers("namespace-controller"); err != nil {
		t.Fatal(err)
	}
	s.until("the namespace is gone", func() bool { return len(s.names("ConfigMap")) == 0 })
}

// TestDeleteRefused tries everything for which a delete is refused: the server has
// the same afterwards, to the resourceVersion.
func TestDeleteRefused(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}`)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {kubectl-gc.io/protect: "true"}}}`)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: helm, annotations: {helm.sh/resource-policy: keep}}}`)
	before := s.world()
	name := strings.TrimSpace(string(s.kubectl(nil, "config", "current-context"))) + "\n"
	other := "--confirm=sha256:" + strings.Repeat("0", 64)
	for test, x := range map[string]struct {
		args  []string
		typed string
		says  string
	}{
		"nobody to ask":        {[]string{"configmap/plain"}, "", "no terminal to ask on"},
		"another digest":       {[]string{"configmap/plain", other}, "", "has the digest sha256:"},
		"no":                   {[]string{"configmap/plain"}, "n\n", "nothing was written"},
		"yes to data":          {[]string{"configmap/plain"}, "y\n", "nothing was written"},
		"too many":             {[]string{"configmap/plain", "--max-deletes=0"}, "NAME", "at most 0 are allowed"},
		"annotation":           {[]string{"configmap/kept"}, "NAME", "protected by its annotation kubectl-gc.io/protect; no option unlocks this"},
		"no unlock for it":     {[]string{"configmap/kept", "--unlock=helm,namespace,pvc,pv"}, "NAME", "no option unlocks this"},
		"one of several":       {[]string{"configmap/plain", "configmap/kept"}, "NAME", "protected by its annotation kubectl-gc.io/protect"},
		"helm":                 {[]string{"configmap/helm"}, "NAME", " --namespace=" + s.namespace + " --unlock=helm\n"},
		"a namespace":          {[]string{"namespace/" + s.namespace}, "NAME", "(--unlock=namespace)"},
		"another unlocked":     {[]string{"namespace/" + s.namespace, "--unlock=pvc,helm"}, "NAME", "(--unlock=namespace)"},
		"system namespace":     {[]string{"namespace/kube-system", "--unlock=namespace"}, "NAME", "the cluster depends on the namespace; no option unlocks this"},
		"nothing but shown":    {[]string{"configmap/plain", "--dry-run"}, "NAME", "Nothing was written"},
		"shown, by the server": {[]string{"configmap/plain", "--dry-run=server"}, "NAME", "The API server tried 1 request and would accept 1.\nNothing was written"},
		"protected, shown":     {[]string{"configmap/helm", "namespace/" + s.namespace, "--dry-run"}, "NAME", "Nothing was written. A run would be refused:\n  cm/helm -n "},
	} {
		t.Run(test, func(t *testing.T) {
			args := append([]string{"delete", "-n", s.namespace}, x.args...)
			var a answer
			if x.typed == "" {
				a = s.gc(s.ctx, args...)
			} else {
				a = s.typed(s.ctx, person{strings.NewReader(strings.Replace(x.typed, "NAME", name, 1))}, args...)
			}
			want := 5
			if strings.Contains(test, "shown") {
				want = 0
			}
			a.want(t, want, x.says)
			if diff := cmp.Diff(before, s.world()); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// TestDeleteByPerson has somebody type the name of the context.
func TestDeleteByPerson(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}`)
	context := strings.TrimSpace(string(s.kubectl(nil, "config", "current-context")))
	a := s.typed(s.ctx, person{strings.NewReader(context + "\n")}, "delete", "configmap/plain", "-n", s.namespace)
	a.want(t, 0, "Type the name of the context ("+context+") to delete cm/plain: ", "all as predicted", "Backup and journal")
	if left := s.names("ConfigMap"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestDeleteChanged changes the target between the plan and the delete: it is
// another object then than the one that was confirmed.
func TestDeleteChanged(t *testing.T) {
	for _, point := range []string{"before-backup", "after-backup"} {
		t.Run(point, func(t *testing.T) {
			s := enter(t, collector)
			s.configMap("plain", "", "")
			dry := s.gc(s.ctx, "delete", "configmap/plain", "-n", s.namespace, "--dry-run").want(t, 0)
			confirm := "--confirm=" + digests.FindStringSubmatch(dry.stderr)[1]
			ctx := s.during(point, func() { s.label("plain") })
			a := s.gc(ctx, "delete", "configmap/plain", "-n", s.namespace, confirm, "-o", "json").want(t, 5, "Contended")
			if r := a.run(t); r.State != report.NothingWritten {
				t.Errorf("%+v", r)
			}
			s.configMaps("plain")
		})
	}
}

// TestDeleteDenied has admission deny one of two deletes: neither is sent.
func TestDeleteDenied(t *testing.T) {
	s := enter(t, collector)
	s.configMap("plain", "", "")
	s.configMap("denied", "", "")
	policy := `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: deny}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}
  validations: [{expression: "oldObject.metadata.name != 'denied'", message: not this one}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: deny}
spec: {policyName: deny, validationActions: [Deny]}
`
	s.kubectl([]byte(policy), "create", "-f", "-")
	defer s.kubectl([]byte(policy), "delete", "-f", "-")
	s.until("the policy is in force", func() bool {
		_, err := plane.Kubectl(s.ctx, nil, "delete", "configmap", "denied", "-n", s.namespace, "--dry-run=server")
		return err != nil
	})
	before := s.world()
	s.confirmed("delete", "configmap/plain", "configmap/denied", "-n", s.namespace).want(t, 5, "not this one", "nothing was written")
	s.gc(s.ctx, "delete", "configmap/plain", "configmap/denied", "-n", s.namespace, "--dry-run=server").want(t, 1,
		"The API server tried 2 requests and would accept 1.\n  DELETE cm/denied -n "+s.namespace+" would be refused: ", "not this one")
	if diff := cmp.Diff(before, s.world()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
}

// TestDeleteSeveral deletes what a selector finds, without waiting.
func TestDeleteSeveral(t *testing.T) {
	s := enter(t, collector)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(name, "", "")
	}
	s.label("a")
	s.label("b")
	r := s.confirmed("delete", "configmap", "-l", "changed=yes", "-n", s.namespace, "--wait=false", "-o", "json").want(t, 0).run(t)
	if r.State != report.NotAwaited || r.Summary.Confirmed != 2 {
		t.Errorf("%+v", r)
	}
	s.configMaps("c")
}

// TestDeleteUnlocked: what is unlocked goes, and nothing else that is protected.
func TestDeleteUnlocked(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: helm, annotations: {helm.sh/resource-policy: keep}}}`)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {kubectl-gc.io/protect: "true"}}}`)
	s.confirmed("delete", "configmap/helm", "-n", s.namespace, "--unlock=Helm").want(t, 0)
	s.gc(s.ctx, "delete", "configmap/kept", "-n", s.namespace, "--unlock=helm", "--dry-run").want(t, 0, "no option unlocks this")
	s.configMaps("kept")
}

// takenAt is when a cluster was read, which no two plans have in common.
var takenAt = regexp.MustCompile(`"?takenAt"?: "[^"]*"`)

// TestDryRunIsOneThing: `dry-run delete` and `delete --dry-run` print the same, to the
// byte, with a digest that can be confirmed; of what is protected, too.
func TestDryRunIsOneThing(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}`)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: helm, annotations: {helm.sh/resource-policy: keep}}}`)
	before := s.world()
	for _, args := range [][]string{
		{"configmap/plain"}, {"configmap/plain", "-o", "json"}, {"configmap/plain", "--steps"}, {"configmap/plain", "--cascade=foreground"},
		{"configmap/plain", "--no-backup"}, {"configmap/helm"}, {"configmap/helm", "--unlock=helm", "-o", "yaml"},
	} {
		args = append(args, "-n", s.namespace)
		one := s.gc(s.ctx, append([]string{"dry-run", "delete"}, args...)...).want(t, 0, "Nothing was written. ")
		other := s.gc(s.ctx, append([]string{"delete", "--dry-run"}, args...)...).want(t, 0)
		one.stdout, other.stdout = takenAt.ReplaceAllString(one.stdout, ""), takenAt.ReplaceAllString(other.stdout, "")
		if diff := cmp.Diff(one, other, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%v (-dry-run delete +delete --dry-run):\n%s", args, diff)
		}
	}
	s.unchanged(before)
	digest := digests.FindStringSubmatch(s.gc(s.ctx, "dry-run", "delete", "configmap/plain", "-n", s.namespace).stderr)[1]
	s.gc(s.ctx, "delete", "configmap/plain", "-n", s.namespace, "--confirm="+digest).want(t, 0)
	s.configMaps("helm")
}

// TestDeleteGrace: the grace period that is asked for is that of the request, and a pod
// that is forced is gone although no kubelet has said so.
func TestDeleteGrace(t *testing.T) {
	s := enter(t, collector)
	s.kubectl(nil, "create", "serviceaccount", "default", "-n", s.namespace)
	for _, name := range []string{"slow", "soon", "now"} {
		s.create(`{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: {nodeName: none, automountServiceAccountToken: false, containers: [{name: a, image: a}]}}`)
	}
	grace := func(name string) string {
		return string(s.kubectl(nil, "get", "pod", name, "-n", s.namespace, "-o", "jsonpath={.metadata.deletionGracePeriodSeconds}"))
	}
	s.confirmed("delete", "pod/slow", "-n", s.namespace, "--grace-period=7", "--wait=false").want(t, 0)
	s.confirmed("delete", "pod/soon", "-n", s.namespace, "--grace-period=0", "--wait=false").want(t, 0)
	if slow, soon := grace("slow"), grace("soon"); slow != "7" || soon != "1" {
		t.Errorf("grace periods of %q and %q", slow, soon)
	}
	s.confirmed("delete", "pod/now", "pod/slow", "-n", s.namespace, "--force", "--timeout=5s").want(t, 0, "may run on")
	if diff := cmp.Diff([]string{"soon"}, s.names("Pod")); diff != "" {
		t.Error(diff)
	}
	s.kubectl(nil, "delete", "pod/soon", "-n", s.namespace, "--force", "--grace-period=0")
}

// TestDeleteNotThere: with --ignore-not-found what is not there is no error.
func TestDeleteNotThere(t *testing.T) {
	s := enter(t, collector)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}`)
	s.gc(s.ctx, "delete", "configmap/none", "-n", s.namespace).want(t, 1, "not found")
	s.gc(s.ctx, "delete", "configmap/none", "-n", s.namespace, "--ignore-not-found").want(t, 0, "there is nothing to delete")
	s.confirmed("delete", "configmap/none", "configmap/plain", "-n", s.namespace, "--ignore-not-found").want(t, 0)
	s.configMaps()
}

// TestDeleteInAFormat: in a format of machines standard output has what was done, and
// nothing where nothing was; whoever has to say yes reads the plan beside it.
func TestDeleteInAFormat(t *testing.T) {
	s := enter(t, collector)
	s.configMap("plain", "", "")
	for _, format := range []string{"name", "json"} {
		a := s.gc(s.ctx, "delete", "configmap/plain", "-n", s.namespace, "-o", format).want(t, 5, "delete cm/plain -n "+s.namespace+": 1 object would be deleted")
		if a.stdout != "" {
			t.Errorf("-o %s, refused: %q", format, a.stdout)
		}
	}
	if a := s.confirmed("delete", "configmap/plain", "-n", s.namespace, "-o", "name").want(t, 0); a.stdout != "configmap/plain\n" {
		t.Errorf("done: %q", a.stdout)
	}
}

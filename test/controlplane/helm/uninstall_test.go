package helm

import (
	"fmt"
	"strings"
	"testing"
)

// web is an application: a Deployment, a Service, RBAC, a ConfigMap in another namespace, a subchart.
var web = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\ndependencies:\n- {name: cache, version: 0.1.0}\n",
	"templates/web.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {ports: [{port: 80}]}
---
# only a comment
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: {{ns}}-other}
`,
	"templates/rbac.yaml": `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ns}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: {{ns}}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ns}}}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: listed, annotations: {helm.sh/resource-policy: keep}}
- apiVersion: v1
  kind: Secret
  metadata: {name: listed-too}
`,
	"charts/cache/Chart.yaml": "apiVersion: v2\nname: cache\nversion: 0.1.0\n",
	"charts/cache/templates/cache.yaml": `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache}
spec:
  serviceName: cache
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec: {containers: [{name: cache, image: cache}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
}

// TestCascades uninstalls under each policy a release that was upgraded twice, and of which an object
// is gone already.
func TestCascades(t *testing.T) {
	for _, cascade := range []string{"background", "foreground", "orphan"} {
		t.Run(cascade, func(t *testing.T) {
			s := enter(t, "")
			s.install("web", s.chart(web))
			for range 2 {
				if err := s.upgrade("web", s.chart(web)); err != nil {
					t.Fatal(err)
				}
			}
			s.remove("/api/v1/namespaces/" + s.namespace + "/services/web")
			if p := s.judge("web", cascade, false); !p.Complete || p.Seed.Uninstall.Revision != 3 {
				t.Errorf("revision %d, complete: %v", p.Seed.Uninstall.Revision, p.Complete)
			}
		})
	}
}

// TestKeeps has objects that Helm leaves: by their annotation in the manifest, and not by one that was
// added later; without Helm's label; of the directory crds. A CRD of a template takes its instances.
func TestKeeps(t *testing.T) {
	s := enter(t, "")
	group := s.namespace + ".example.com"
	s.install("web", s.chart(map[string]string{
		"crds/carts.yaml": definition("carts", "Cart", group),
		"templates/all.yaml": definition("lists", "List2", group) + `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {helm.sh/resource-policy: " Keep "}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: neither, annotations: {helm.sh/resource-policy: delete}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: later}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: foreign}
`,
		"templates/cart.yaml": "apiVersion: " + group + "/v1\nkind: Cart\nmetadata: {name: cart}\n",
	}))
	maps := "/api/v1/namespaces/" + s.namespace + "/configmaps/"
	s.patch(maps+"later", `{"metadata": {"annotations": {"helm.sh/resource-policy": "keep"}}}`)
	s.patch(maps+"foreign", `{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`)
	s.create("/apis/"+group+"/v1/namespaces/"+s.namespace+"/lists", fmt.Sprintf(`{"apiVersion": "%s/v1", "kind": "List2", "metadata": {"name": "instance"}}`, group))
	p := s.judge("web", "background", false)
	var stays []string
	for _, k := range p.Seed.Uninstall.Stays {
		stays = append(stays, k.Object.Name)
	}
	if got := strings.Join(stays, " "); got != "data neither foreign" || !p.Seed.Uninstall.CRDs {
		t.Errorf("stays: %s; CRDs: %v", got, p.Seed.Uninstall.CRDs)
	}
}

func definition(plural, kind, group string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[3]s}
spec:
  group: %[3]s
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, plural, kind, group)
}

// TestHooks has hooks with and without delete policies. Objects of other events stay.
func TestHooks(t *testing.T) {
	for _, driver := range []string{"secret", "configmap"} {
		t.Run(driver, func(t *testing.T) {
			s := enter(t, driver)
			s.finishJobs()
			const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: %s, annotations: {helm.sh/hook: "%s"%s}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`
			s.install("web", s.chart(map[string]string{
				"templates/a.yaml": fmt.Sprintf(job, "migrate", "post-install,post-upgrade", ""),
				"templates/b.yaml": fmt.Sprintf(job, "cleanup", "pre-delete", `, helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"`),
				"templates/c.yaml": fmt.Sprintf(job, "report", "post-delete", ""),
				"templates/d.yaml": fmt.Sprintf(job, "both", "post-install,pre-delete", ""),
				"templates/e.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: cleanup, annotations: {helm.sh/hook: pre-delete, helm.sh/hook-weight: \"-5\"}}\n",
				"templates/f.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n",
			}))
			p := s.judge("web", "background", false)
			if p.Complete || len(p.Unlisted) != 3 {
				t.Errorf("complete: %v, unlisted: %v", p.Complete, p.Unlisted)
			}
			if command := p.Seed.Uninstall.Command; strings.HasPrefix(command, "HELM_DRIVER=configmap ") != (driver == "configmap") {
				t.Errorf("%s", command)
			}
		})
	}
}

// TestFailedUpgrade: Helm takes the newest revision, although it failed. What only the deployed one has
// stays. With --keep-history the records stay, and the next uninstallation deletes nothing else.
func TestFailedUpgrade(t *testing.T) {
	s := enter(t, "")
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
	s.install("web", s.chart(map[string]string{"templates/a.yaml": fmt.Sprintf(config, "old"), "templates/b.yaml": fmt.Sprintf(config, "same")}))
	broken := "apiVersion: v1\nkind: Service\nmetadata: {name: broken}\nspec: {ports: []}\n"
	if err := s.upgrade("web", s.chart(map[string]string{"templates/b.yaml": fmt.Sprintf(config, "same"), "templates/c.yaml": broken})); err == nil {
		t.Fatal("the upgrade has not failed")
	}
	p := s.judge("web", "background", true)
	if u := p.Seed.Uninstall; u.Revision != 2 || u.Status != "failed" || len(u.Stays) != 2 {
		t.Errorf("%+v", u)
	}
	if _, errOut, code := s.run("dry-run", "delete", "helm/web", "--keep-history"); code == 0 || !strings.Contains(errOut, "uninstalled already") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if err := s.uninstall("web", "background", true); err == nil {
		t.Error("helm uninstalls it again")
	}
	s.judge("web", "background", false)
}

// TestUnserved: Helm deletes nothing if the manifest has a kind that is not served any more.
func TestUnserved(t *testing.T) {
	s := enter(t, "")
	group := s.namespace + ".example.com"
	s.install("web", s.chart(map[string]string{
		"crds/carts.yaml":   definition("carts", "Cart", group),
		"templates/a.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n",
		"templates/ab.yaml": "apiVersion: " + group + "/v1\nkind: Cart\nmetadata: {name: cart}\n",
	}))
	s.remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/carts." + group)
	s.connect() // what Helm has discovered before may be in its cache
	before := s.quiet()
	if out, errOut, code := s.run("dry-run", "delete", "helm/web"); code == 0 || !strings.Contains(errOut, "Cart of "+group+"/v1, which the cluster does not serve") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if err := s.uninstall("web", "background", false); err == nil {
		t.Error("helm uninstalls it")
	}
	if after := s.quiet(); len(after) != len(before) {
		t.Errorf("%d objects, then %d", len(before), len(after))
	}
}

// TestRefused: delete names the command of Helm, and a refused delete keeps the records.
func TestRefused(t *testing.T) {
	s := enter(t, "")
	s.install("web", s.chart(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n"}))
	before := s.quiet()
	out, errOut, code := s.run("delete", "helm/web")
	if code != 5 || !strings.Contains(out, "cm/config") || !strings.Contains(errOut, "helm uninstall web -n "+s.namespace) {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if after := s.quiet(); len(after) != len(before) {
		t.Errorf("%d objects, then %d", len(before), len(after))
	}
}

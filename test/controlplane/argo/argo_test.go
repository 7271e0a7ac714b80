//go:build argo

// Package argo compares plans for Applications with what Argo CD's own controller makes of the delete, object
// by object. Building that controller takes minutes, so that the package has a target of its own: make argo.
package argo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

// stage is a control plane on which Argo CD's controller runs.
type stage struct {
	*testing.T
	program string
	log     bytes.Buffer
}

// installed is what makes the controller one that is seen to run, and what it reads.
const installed = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: argocd}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}}
- {apiVersion: v1, kind: Secret, metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}, stringData: {server.secretkey: for-tests}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: argocd-application-controller, namespace: argocd}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: argocd-application-controller}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
  subjects: [{kind: ServiceAccount, name: argocd-application-controller, namespace: argocd}]
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- apiVersion: v1
  kind: Pod
  metadata: {name: argocd-application-controller-0, namespace: argocd, labels: {app.kubernetes.io/name: argocd-application-controller}}
  spec: {nodeName: n1, serviceAccountName: argocd-application-controller, containers: [{name: controller, image: quay.io/argoproj/argocd}]}
- apiVersion: argoproj.io/v1alpha1
  kind: AppProject
  metadata: {name: default, namespace: argocd}
  spec: {sourceRepos: ["*"], destinations: [{server: "*", namespace: "*"}], clusterResourceWhitelist: [{group: "*", kind: "*"}]}
- apiVersion: argoproj.io/v1alpha1
  kind: AppProject
  metadata: {name: narrow, namespace: argocd}
  spec: {sourceRepos: ["*"], destinations: [{server: "*", namespace: "*"}], namespaceResourceBlacklist: [{group: "", kind: Secret}]}
`

func enter(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t}
	controller, err := cluster.ArgoController()
	s.must(err)
	s.program, err = cluster.Program()
	s.must(err)
	module := s.output("go", "list", "-C", "controller", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v2")
	s.kubectl("", "apply", "--server-side", "-f", strings.TrimSpace(string(module))+"/manifests/crds/application-crd.yaml", "-f", strings.TrimSpace(string(module))+"/manifests/crds/appproject-crd.yaml")
	s.must(plane.Serves(t.Context(), "argoproj.io", "applications", "v1alpha1"))
	s.must(plane.Serves(t.Context(), "argoproj.io", "appprojects", "v1alpha1"))
	s.kubectl(installed, "apply", "-f", "-")
	s.kubectl("", "patch", "pod", "argocd-application-controller-0", "-n", "argocd", "--subresource=status", "-p", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	s.heartbeat()
	s.must(plane.Controllers("garbage-collector-controller", "namespace-controller", "persistentvolumeclaim-protection-controller"))
	cmd := exec.Command(controller)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig, "ARGOCD_FAKE_IN_CLUSTER=true")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	s.must(cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the end of the controller's log:\n%s", s.log.Bytes()[max(0, s.log.Len()-4096):])
		}
	})
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) output(name string, args ...string) []byte {
	s.Helper()
	text, err := exec.CommandContext(s.Context(), name, args...).Output()
	s.must(err)
	return text
}

func (s *stage) kubectl(input string, args ...string) []byte {
	s.Helper()
	text, err := plane.Kubectl(s.Context(), []byte(input), args...)
	s.must(err)
	return text
}

// heartbeat makes the node look alive: after a while without one, its pods count as gone.
func (s *stage) heartbeat() {
	s.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	s.kubectl("", "patch", "node", "n1", "--subresource=status", "-p", `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+now+`"}]}}`)
}

// plan asks the program what the delete of an Application does.
func (s *stage) plan(app string) report.Plan {
	s.Helper()
	s.heartbeat()
	text, _ := exec.CommandContext(s.Context(), s.program, "dry-run", "delete", "applications.argoproj.io/"+app, "-n", "argocd", "--kubeconfig", plane.Kubeconfig, "-o", "json").Output()
	var p report.Plan
	s.must(json.Unmarshal(text, &p))
	return p
}

// get returns an object; nil if it does not exist.
func (s *stage) get(at object.Ref) *unstructured.Unstructured {
	s.Helper()
	text := s.kubectl("", "get", at.KubectlName(), "-n", cmp.Or(at.Namespace, "default"), "-o", "json", "--ignore-not-found")
	if len(text) == 0 {
		return nil
	}
	o := &unstructured.Unstructured{}
	s.must(o.UnmarshalJSON(text))
	return o
}

// create creates an object.
func (s *stage) create(text string) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	s.must(o.UnmarshalJSON(s.kubectl(text, "create", "-o", "json", "-f", "-")))
	return o
}

// until waits until something holds, for a minute at most: what comes later is judged as it is then.
func (s *stage) until(what string, holds func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if err := cluster.Await(ctx, what, func(context.Context) (bool, error) { return holds(), nil }); err != nil {
		s.Error(err)
	}
}

// listed returns the Application, and what Argo CD has listed as deployed.
func (s *stage) listed(app string) (*unstructured.Unstructured, []any) {
	s.Helper()
	o := s.get(object.Ref{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: app})
	list, _, err := unstructured.NestedSlice(o.Object, "status", "resources")
	s.must(err)
	return o, list
}

// reconciled waits until Argo CD has listed what an Application deploys.
func (s *stage) reconciled(app string) {
	s.Helper()
	s.until("Argo CD lists what "+app+" deploys", func() bool {
		s.kubectl("", "annotate", "applications.argoproj.io/"+app, "-n", "argocd", "argocd.argoproj.io/refresh=normal", "--overwrite")
		_, list := s.listed(app)
		return len(list) > 0
	})
}

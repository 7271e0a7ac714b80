package deployers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

// stage is a control plane in which Flux seems to run.
type stage struct {
	*testing.T
	client  client.Client
	program string
	fences  int
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kustomizations.kustomize.toolkit.fluxcd.io}
spec:
  group: kustomize.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: Kustomization, plural: kustomizations, singular: kustomization, shortNames: [ks]}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

const flux = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: kustomize-controller, namespace: flux-system}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: cluster-reconciler}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
  subjects: [{kind: ServiceAccount, name: kustomize-controller, namespace: flux-system}]
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- apiVersion: v1
  kind: Pod
  metadata: {name: kustomize-controller-0, namespace: flux-system, labels: {app: kustomize-controller}}
  spec: {nodeName: n1, serviceAccountName: kustomize-controller, containers: [{name: manager, image: ghcr.io/fluxcd/kustomize-controller}]}
`

func enter(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t}
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig)
	s.must(err)
	config.QPS = -1
	log.SetLogger(logr.Discard())
	s.program, err = cluster.Program()
	s.must(err)
	s.kubectl(crd, "apply", "-f", "-")
	s.must(plane.Serves(t.Context(), fluxGroup, "kustomizations", "v1"))
	s.kubectl(flux, "apply", "-f", "-")
	s.kubectl("", "patch", "pod", "kustomize-controller-0", "-n", "flux-system", "--subresource=status", "-p", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	s.client, err = client.New(config, client.Options{})
	s.must(err)
	s.must(plane.Controllers("garbage-collector-controller", "namespace-controller", "persistentvolumeclaim-protection-controller"))
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) kubectl(input string, args ...string) {
	s.Helper()
	_, err := plane.Kubectl(s.Context(), []byte(input), args...)
	s.must(err)
}

// create stores a world.
func (s *stage) create(w *world) {
	s.Helper()
	s.must(s.client.Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	for i, o := range append(slices.Clone(w.objects), w.from) {
		if i < len(w.owners) && w.owners[i] != nil {
			owner := w.owners[i]
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}})
		}
		s.must(s.client.Create(s.Context(), o))
	}
}

// plan asks the program what the delete of the world's Kustomization does.
func (s *stage) plan(w *world) report.Plan {
	s.Helper()
	s.heartbeat()
	cmd := exec.CommandContext(s.Context(), s.program, "dry-run", "delete", "kustomization/app", "-n", w.namespace, "--kubeconfig", plane.Kubeconfig, "-o", "json")
	text, err := cmd.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || len(text) == 0) {
		s.Fatalf("%s: %v", cmd, err)
	}
	var p report.Plan
	s.must(json.Unmarshal(text, &p))
	return p
}

// heartbeat makes the node look alive: after a while without one, its pods count as gone.
func (s *stage) heartbeat() {
	s.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	s.kubectl("", "patch", "node", "n1", "--subresource=status", "-p", `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+now+`"}]}}`)
}

func nameOf(o *unstructured.Unstructured) string { return o.GetKind() + "/" + o.GetName() }

// fence returns when the garbage collector and the protection of claims have done what they had to do
// before.
func (s *stage) fence() {
	s.Helper()
	s.fences++
	claim := (&world{namespace: "default"}).object(claimKind, fmt.Sprintf("fence-%d", s.fences))
	s.must(s.client.Create(s.Context(), claim))
	s.must(s.client.Delete(s.Context(), claim))
	cluster.Until(s, "the protection of a claim ends", func() bool {
		return apierrors.IsNotFound(s.client.Get(s.Context(), client.ObjectKeyFromObject(claim), claim))
	})
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kustomizationKind)
	o.SetNamespace("default")
	o.SetName(fmt.Sprintf("fence-%d", s.fences))
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "none", UID: "none"}})
	s.must(s.client.Create(s.Context(), o))
	cluster.Until(s, "the garbage collector collects", func() bool {
		return apierrors.IsNotFound(s.client.Get(s.Context(), client.ObjectKeyFromObject(o), o))
	})
}

// work lets Flux and the garbage collector do all that they can do.
func (s *stage) work(ctx context.Context) {
	s.Helper()
	for quiet := 0; quiet < 2; {
		s.fence()
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kustomizationKind)
		s.must(s.client.List(ctx, &list))
		quiet++
		for i := range list.Items {
			o := &list.Items[i]
			if o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), fluxFinalizer) {
				if err := finalize(ctx, s.client, o); err == nil {
					quiet = 0
				}
			}
		}
	}
}

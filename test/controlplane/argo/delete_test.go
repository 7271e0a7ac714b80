//go:build argo

package argo

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// In the objects of a case, APP is the name of the Application and of the namespace that it deploys to.
const (
	tracked = "labels: {app.kubernetes.io/instance: APP}"
	config  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: APP, " + tracked + "}}\n"
	secret  = "{apiVersion: v1, kind: Secret, metadata: {name: secret, namespace: APP, " + tracked + "}}\n"
	account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: APP, " + tracked + "}}\n"
	claim   = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: APP, " + tracked + "}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}}\n"
	web     = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: APP, " + tracked + "}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}\n"
	locked  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: locked, namespace: APP, " + tracked + ", finalizers: [example.com/lock]}}\n"
	crd     = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: tins.APP.example.com, " + tracked + "}, spec: {group: APP.example.com, scope: Namespaced, names: {kind: Tin, plural: tins, singular: tin}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}\n"
)

// annotated is an object of the Application with an annotation.
func annotated(name, annotation string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: APP, " + tracked + ", annotations: {" + annotation + "}}}\n"
}

// application is an Application and what it has deployed: an object a line, UID is that of the first.
type application struct{ name, finalizer, project, destination, objects string }

const (
	foreground = "resources-finalizer.argocd.argoproj.io"
	background = foreground + "/background"
	nowhere    = "server: https://nowhere.example.com"
)

// manifest returns the Application; below is the name of the Application that tracks it, if any.
func (a application) manifest(below string) string {
	return fmt.Sprintf("{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: %s, namespace: argocd, finalizers: [%s], labels: {app.kubernetes.io/instance: %q}}, "+
		"spec: {project: %s, source: {repoURL: https://git.example.com/app.git, path: .}, destination: {namespace: %[1]s, %[5]s}}}\n",
		a.name, a.finalizer, below, cmp.Or(a.project, "default"), cmp.Or(a.destination, "server: https://kubernetes.default.svc"))
}

var cases = []application{
	{name: "foreground", finalizer: foreground, objects: config + secret + account + claim + web},
	{name: "background", finalizer: background, objects: config + secret + account + claim + web},
	{name: "without-finalizer", objects: config + secret},
	{name: "kept", finalizer: foreground, objects: config +
		annotated("undeleted", "argocd.argoproj.io/sync-options: Delete=false") + annotated("several", `argocd.argoproj.io/sync-options: "Validate=false, Delete=false"`) +
		annotated("unpruned", "argocd.argoproj.io/sync-options: Prune=false") + annotated("helm", "helm.sh/resource-policy: keep") +
		annotated("helm-other", "helm.sh/resource-policy: delete") + annotated("spelled", "argocd.argoproj.io/sync-options: delete=false")},
	{name: "held", finalizer: foreground, objects: config + locked},
	{name: "waves", finalizer: foreground, objects: annotated("first", `argocd.argoproj.io/sync-wave: "0"`) +
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: APP, " + tracked + `, annotations: {argocd.argoproj.io/sync-wave: "1"}, finalizers: [example.com/lock]}}` + "\n" +
		annotated("third", `argocd.argoproj.io/sync-wave: "2"`)},
	{name: "owned", finalizer: foreground, objects: config +
		"{apiVersion: v1, kind: Secret, metadata: {name: child, namespace: APP, " + tracked + ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: config, uid: UID}]}}\n"},
	{name: "narrow", finalizer: foreground, project: "narrow", objects: config + secret},
	{name: "nowhere", finalizer: foreground, destination: nowhere, objects: config},
	{name: "named", finalizer: foreground, destination: "name: in-cluster", objects: config},
	{name: "defines", finalizer: foreground, objects: config + crd},
	{name: "elsewhere", finalizer: foreground, objects: config +
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: default, " + tracked + "}}\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: APP-role, " + tracked + "}}\n"},
	{name: "space", finalizer: foreground, objects: config + "{apiVersion: v1, kind: Namespace, metadata: {name: APP-extra, " + tracked + "}}\n{apiVersion: v1, kind: Secret, metadata: {name: content, namespace: APP-extra}}\n"},
	{name: "confirm", finalizer: foreground, objects: config + annotated("asks", "argocd.argoproj.io/sync-options: Delete=confirm")},
	{name: "itself", finalizer: foreground, objects: config + secret},
	{name: "below", finalizer: foreground, objects: config + application{name: "child-of-APP", finalizer: foreground}.manifest("APP")},
}

// TestDelete deletes Applications: what Argo CD and the garbage collector delete is what the plans said,
// object by object.
func TestDelete(t *testing.T) {
	s := enter(t)
	made := map[string][]object.Ref{}
	for _, c := range cases {
		made[c.name] = s.deploy(c)
	}
	predicted := map[object.Ref]report.Effect{}
	for _, c := range cases {
		if c.destination != nowhere {
			s.reconciled(c.name)
		}
		for _, e := range s.plan(c.name).Effects {
			predicted[e.Object.WithoutUID()] = e
		}
	}
	for _, c := range cases {
		s.kubectl("", "delete", "applications.argoproj.io/"+c.name, "-n", "argocd", "--wait=false")
	}
	s.until("what the plans say is gone", func() bool {
		for at, e := range predicted {
			if e.Outcome == report.Deleted && s.get(at) != nil {
				return false
			}
		}
		return true
	})
	s.fence()
	judged := 0
	for _, c := range cases {
		for _, at := range made[c.name] {
			e, known := predicted[at]
			if !known {
				e.Outcome = report.Kept
			}
			if is := stateOf(s.get(at)); is != e.Outcome {
				t.Errorf("%s: %s was %s in the plan, and is %s: %s", c.name, at.KubectlName(), e.Outcome, is, e.Message)
			}
			judged++
		}
	}
	t.Logf("%d Applications, %d objects judged", len(cases), judged)
}

// stateOf returns the outcome of a delete that led to an object; nil if it does not exist.
func stateOf(o *unstructured.Unstructured) report.Outcome {
	switch {
	case o == nil:
		return report.Deleted
	case o.GetDeletionTimestamp() != nil:
		return report.Blocked
	default:
		return report.Kept
	}
}

// deploy creates the objects of a case and its Application, and returns all of them.
func (s *stage) deploy(c application) []object.Ref {
	s.Helper()
	s.kubectl("", "create", "namespace", c.name)
	var made []object.Ref
	uid, below := "", ""
	if c.name == "itself" {
		below = c.name
	}
	for text := range strings.Lines(c.objects + c.manifest(below)) {
		o := s.create(strings.NewReplacer("APP", c.name, "UID", uid).Replace(text))
		if uid == "" {
			uid = string(o.GetUID())
		}
		made = append(made, object.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return made
}

// fence returns when Argo CD has gone through the Applications whose delete came before.
func (s *stage) fence() {
	s.Helper()
	s.kubectl("", "create", "namespace", "fence")
	s.create(application{name: "fence", finalizer: foreground}.manifest(""))
	s.kubectl("", "delete", "applications.argoproj.io/fence", "-n", "argocd", "--timeout=2m")
}

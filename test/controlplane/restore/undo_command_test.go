package restore

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// definitions are kinds of custom resources: of Lamps the status is a part of the object,
// of Engines it is a subresource. The second version of Engines is the stored one.
const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.undo.example.com}
spec:
  group: undo.example.com
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp, listKind: LampList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.undo.example.com}
spec:
  group: undo.example.com
  scope: Namespaced
  names: {plural: engines, singular: engine, kind: Engine, listKind: EngineList}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

const lamp = `
apiVersion: undo.example.com/v1
kind: Lamp
metadata: {name: hall, namespace: NS}
spec: {watts: 40}
status: {hours: 9007199254740993, lit: true}
`

const engine = `
apiVersion: undo.example.com/v1
kind: Engine
metadata: {name: main, namespace: NS}
spec: {fuel: steam}
`

func (s *scene) define() {
	s.Helper()
	s.kubectl(definitions, "apply", "-f", "-")
	for _, name := range []string{"lamps.undo.example.com", "engines.undo.example.com"} {
		s.kubectl("", "wait", "crd/"+name, "--for=condition=Established", "--timeout=60s")
		cluster.Until(s.T, name+" are served", func() bool {
			_, err := s.plane.Kubectl(s.ctx, nil, "get", name, "-A")
			return err == nil
		})
	}
}

func (s *scene) custom(namespace string) {
	s.Helper()
	s.create(strings.ReplaceAll(lamp, "NS", namespace))
	s.create(strings.ReplaceAll(engine, "NS", namespace))
	s.kubectl("", "patch", "engine/main", "-n", namespace, "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Runs","parts":[1,2]}}`)
}

const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: shop-a, labels: {team: red}, annotations: {note: kept}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, namespace: shop-a}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: shop-a}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop-a, labels: {app: web}}
data: {big: "9007199254740993"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop-a}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop-a}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: outside, namespace: shop-a}
subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{port: 80}]}]
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader, namespace: shop-a}
spec: {holderIdentity: web-1}
---
apiVersion: v1
kind: Event
metadata: {name: web.1, namespace: shop-a}
involvedObject: {kind: Service, namespace: shop-a, name: web}
reason: Happened
type: Normal
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop-a}
spec:
  replicas: 2
  serviceName: db
  podManagementPolicy: Parallel
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: i}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: own, namespace: shop-a}
spec: {storageClassName: none, volumeName: disk-of-own, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// built is the namespace with all that controllers make in it, and changed by hand what
// somebody else would make otherwise: claims, and the ServiceAccount `default`.
func (s *scene) built() objects {
	s.Helper()
	s.define()
	s.create(shop)
	s.says("both pods of the Deployment are there", "deployment/web -n shop-a", "{.status.replicas}", "2")
	s.says("both pods of the StatefulSet are there", "statefulset/db -n shop-a", "{.status.replicas}", "2")
	s.says("the Service has a slice", "endpointslices -n shop-a -l kubernetes.io/service-name=web", "{.items[*].addressType}", "IPv4")
	s.says("the claims have an owner", "pvc -n shop-a", "{.items[*].metadata.ownerReferences[*].name}", "db db")
	s.says("the namespace has the certificate", "configmap/kube-root-ca.crt -n shop-a", "{.metadata.name}", "kube-root-ca.crt")
	for _, claim := range []string{"data-db-0", "data-db-1"} {
		s.kubectl("", "patch", "pvc/"+claim, "-n", "shop-a", "--type=merge", "-p", `{"spec":{"volumeName":"disk-of-`+claim+`"}}`)
	}
	s.kubectl("", "patch", "serviceaccount/default", "-n", "shop-a", "--type=merge", "-p", `{"imagePullSecrets":[{"name":"registry"}],"metadata":{"labels":{"of":"red"}}}`)
	s.custom("shop-a")
	var before objects
	cluster.Until(s.T, "nothing is written any more", func() bool {
		last := before
		before = s.inNamespace("shop-a")
		return maps.EqualFunc(last, before, func(a, b *seen) bool { return a.ResourceVersion == b.ResourceVersion })
	})
	maps.Copy(before, s.addresses("shop-a"))
	return before
}

// addresses are the IPAddresses of the Services of a namespace.
func (s *scene) addresses(namespace string) objects {
	s.Helper()
	all := s.named("ipaddresses")
	maps.DeleteFunc(all, func(_ string, x *seen) bool {
		var ip struct {
			Spec struct{ ParentRef struct{ Namespace string } }
		}
		s.check(json.Unmarshal(x.raw, &ip))
		return ip.Spec.ParentRef.Namespace != namespace
	})
	return all
}

// A namespace comes back whole, and the undo of it is a success: what controllers make
// by themselves is left to them, and what somebody else would fill with nothing first is
// made before them.
func TestNamespaceComesBack(t *testing.T) {
	s := enter(t)
	before := s.built()
	dir := s.bundle(before, s.here())
	s.kubectl("", "delete", "namespace/shop-a", "--wait=false")
	s.kubectl("", "delete", "pods", "--all", "-n", "shop-a", "--force", "--grace-period=0", "--ignore-not-found")
	s.gone("/api/v1/namespaces/shop-a")

	u := s.undone(dir)
	s.back(before, u, func() objects { return s.inNamespace("shop-a") })
	for kind, reason := range map[string]string{
		"Event": "PastEvent", "IPAddress": "ControllerMakesIt", "Lease": "HolderMakesIt", "EndpointSlice": "ControllerMakesIt", "Pod": "ControllerMakesIt",
	} {
		for _, key := range before.keys() {
			if strings.HasPrefix(key, kind+".") && !skipped(u, before[key].Kind, before[key].Name, reason) {
				t.Errorf("%s is not left as %s", key, reason)
			}
		}
	}
	if !skipped(u, "ConfigMap", "kube-root-ca.crt", "ControllerMakesIt") || !skipped(u, "Endpoints", "web", "ControllerMakesIt") {
		t.Errorf("left: %+v", u.Skipped)
	}
	for _, wanted := range []string{"Endpoints outside", "PersistentVolumeClaim data-db-0", "ServiceAccount default", "Lamp hall", "Engine main"} {
		kind, name, _ := strings.Cut(wanted, " ")
		if !slices.ContainsFunc(u.Steps, func(x report.UndoStep) bool { return x.Object.Kind == kind && x.Object.Name == name }) {
			t.Errorf("%s has no step", wanted)
		}
	}
	again := s.again(dir)
	if len(again.Steps) != 0 {
		t.Errorf("a second undo would do %+v", again.Steps)
	}
	s.kubectl("", "delete", "namespace/shop-a", "--wait=false")
}

// again is what an undo would do that is run once more.
func (s *scene) again(dir string) *report.Undo {
	s.Helper()
	a := s.gc("undo", dir, "--dry-run", "-o", "json")
	var u report.Undo
	if err := json.Unmarshal([]byte(a.out), &u); err != nil {
		s.Fatalf("exit code %d, %v\n%s%s", a.code, err, a.out, a.errOut)
	}
	return &u
}

func skipped(u *report.Undo, kind, name, reason string) bool {
	return slices.ContainsFunc(u.Skipped, func(x report.UndoSkip) bool {
		return x.Object.Kind == kind && x.Object.Name == name && x.Reason == reason
	})
}

const owned = `
apiVersion: v1
kind: Namespace
metadata: {name: shop-b}
---
apiVersion: undo.example.com/v1
kind: Lamp
metadata: {name: street, namespace: shop-b}
status: {lit: false}
`

const below = `
apiVersion: undo.example.com/v1
kind: KIND
metadata:
  name: NAME
  namespace: shop-b
  ownerReferences: [{apiVersion: undo.example.com/v1, kind: OWNER, name: street, uid: UID, controller: true, blockOwnerDeletion: true}]
`

// collected returns when the collector watches Lamps: what it has not seen it does not
// miss when it goes.
func (s *scene) collected(namespace, resource string) {
	s.Helper()
	fence := strings.NewReplacer("NS", namespace, "hall", "fence").Replace(lamp)
	s.create(fence)
	uid := s.kubectl("", "get", resource+"/fence", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	s.create(strings.NewReplacer("undo.example.com/v1\nkind: KIND", "v1\nkind: ConfigMap", "NAME", "fence", "OWNER", "Lamp", "street", "fence", "UID", uid, "shop-b", namespace).Replace(below))
	s.kubectl("", "delete", resource+"/fence", "-n", namespace)
	s.gone("/api/v1/namespaces/" + namespace + "/configmaps/fence")
}

// A definition comes back with its instances, those that own and those that are owned,
// in one run, with their status.
func TestDefinitionComesBack(t *testing.T) {
	s := enter(t)
	s.define()
	s.create(owned)
	s.custom("shop-b")
	s.collected("shop-b", "lamps")
	uid := s.kubectl("", "get", "lamp/street", "-n", "shop-b", "-o", "jsonpath={.metadata.uid}")
	fill := func(text, kind, name string) string {
		return strings.NewReplacer("KIND", kind, "NAME", name, "OWNER", "Lamp", "UID", uid).Replace(text)
	}
	s.create(fill(below, "Lamp", "a-below"))
	s.create(fill(below, "Engine", "below"))
	for _, kind := range []string{"ConfigMap", "Secret"} {
		s.create(strings.Replace(fill(below, kind, "below"), "apiVersion: undo.example.com/v1", "apiVersion: v1", 1))
	}
	current := func() objects {
		all := s.inNamespace("shop-b")
		maps.Copy(all, s.named("customresourcedefinitions", "lamps.undo.example.com", "engines.undo.example.com"))
		return all
	}
	before := current()
	maps.DeleteFunc(before, func(_ string, x *seen) bool {
		return x.Kind == "Namespace" || x.Kind == "ServiceAccount" || x.Name == "kube-root-ca.crt"
	})
	dir := s.bundle(before, s.here())
	s.kubectl("", "delete", "crd/lamps.undo.example.com", "crd/engines.undo.example.com")
	s.gone("/api/v1/namespaces/shop-b/configmaps/below")
	s.gone("/api/v1/namespaces/shop-b/secrets/below")

	u := s.undone(dir)
	if u.Summary.Dropped != 0 || u.Summary.Skipped != 0 {
		t.Errorf("%+v; skipped %+v", u.Summary, u.Skipped)
	}
	s.back(before, u, current)
	if again := s.again(dir); len(again.Steps) != 0 {
		t.Errorf("a second undo would do %+v", again.Steps)
	}
	s.kubectl("", "delete", "namespace/shop-b", "--wait=false")
}

const outside = `
apiVersion: v1
kind: Namespace
metadata: {name: shop-c}
---
apiVersion: v1
kind: Service
metadata: {name: lb, namespace: shop-c, finalizers: [service.kubernetes.io/load-balancer-cleanup]}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: shop-c}
spec:
  parallelism: 2
  completions: 5
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`

// A Service comes back with its finalizer and its addresses, a Job starts anew: what is not as it
// was is named.
func TestServiceAndJobComeBack(t *testing.T) {
	s := enter(t)
	s.create(outside)
	s.says("the Job has its pods", "job/work -n shop-c", "{.status.active}", "2")
	s.kubectl("", "patch", "service/lb", "-n", "shop-c", "--subresource=status", "--type=merge", "-p", `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
	before := s.inNamespace("shop-c")
	maps.DeleteFunc(before, func(_ string, x *seen) bool {
		return x.Kind == "Namespace" || x.Kind == "ServiceAccount" || x.Name == "kube-root-ca.crt" || x.Kind == "Event"
	})
	dir := s.bundle(before, s.here())
	s.kubectl("", "delete", "job/work", "-n", "shop-c", "--cascade=background")
	s.kubectl("", "delete", "pods", "--all", "-n", "shop-c", "--force", "--grace-period=0", "--ignore-not-found")
	s.kubectl("", "delete", "service/lb", "-n", "shop-c", "--wait=false")
	s.kubectl("", "patch", "service/lb", "-n", "shop-c", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	s.gone("/apis/batch/v1/namespaces/shop-c/jobs/work")
	s.gone("/api/v1/namespaces/shop-c/services/lb")

	u := s.undone(dir)
	s.back(before, u, func() objects { return s.inNamespace("shop-c") })
	if !noted(u, "work", "StartsOver") || noted(u, "lb", "AddressesDropped") {
		t.Errorf("%+v", u.Steps)
	}
	s.kubectl("", "delete", "namespace/shop-c", "--wait=false")
}

func noted(u *report.Undo, name, reason string) bool {
	return slices.ContainsFunc(u.Steps, func(x report.UndoStep) bool {
		return x.Object.Name == name && slices.ContainsFunc(x.Notes, func(n report.UndoNote) bool { return n.Reason == reason })
	})
}

// A backup by somebody who may not read kube-system is restored where a namespace shows
// that the cluster is the same, and elsewhere only when somebody says so. In a cluster
// that is known to be another one it is not.
func TestClusterThatIsNotKnown(t *testing.T) {
	s := enter(t)
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop-d}}")
	s.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: dev, namespace: shop-d}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`)
	s.kubectl("", "create", "rolebinding", "dev", "-n", "shop-d", "--role=dev", "--user=dev")
	s.kubectl("", "create", "configmap", "lost", "-n", "shop-d")
	cluster.Until(t, "the role has come into force", func() bool {
		_, err := s.plane.Kubectl(s.ctx, nil, "get", "namespace/shop-d", "--as=dev")
		return err == nil
	})
	a := s.confirmed("delete", "configmap/lost", "-n", "shop-d", "--as=dev", "-o", "json")
	var run report.Run
	if err := json.Unmarshal([]byte(a.out), &run); err != nil || a.code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", a.code, err, a.out, a.errOut)
	}
	if u := s.undone(run.Bundle, "--as=dev"); u.Summary.Made != 1 || u.SameCluster != report.ProofNamespace {
		t.Errorf("%s, %+v", u.SameCluster, u.Summary)
	}

	// Of this one nothing is left, and nothing was taken note of.
	all := s.inNamespace("shop-d")
	maps.DeleteFunc(all, func(_ string, x *seen) bool { return x.Kind != "ConfigMap" || x.Name != "lost" })
	nameless := s.bundle(all, backup.Cluster{Server: "https://elsewhere"})
	named := s.bundle(all, s.here())
	s.kubectl("", "delete", "configmap/lost", "-n", "shop-d")
	if a := s.gc("undo", nameless); a.code != 5 || !strings.Contains(a.errOut, "--assume-same-cluster") || !strings.Contains(a.errOut, "https://elsewhere") {
		t.Errorf("exit code %d: %s", a.code, a.errOut)
	}
	s.gone("/api/v1/namespaces/shop-d/configmaps/lost")

	other, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Stop(); err != nil {
			t.Error(err)
		}
	})
	there := &scene{t, s.ctx, other, s.state}
	there.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop-d}}")
	for dir, code := range map[string]int{run.Bundle: 5, nameless: 5, named: 1} {
		if a := there.gc("undo", dir, "--dry-run"); a.code != code {
			t.Errorf("another cluster: exit code %d, want %d: %s", a.code, code, a.errOut)
		}
	}
	if a := there.gc("undo", named, "--dry-run", "--assume-same-cluster"); a.code != 1 || !strings.Contains(a.errOut, "another cluster") {
		t.Errorf("what is known to be another cluster can be assumed away: exit code %d: %s", a.code, a.errOut)
	}

	u := s.undone(nameless, "--assume-same-cluster")
	if u.SameCluster != report.ProofAssumed {
		t.Error(u.SameCluster)
	}
	s.back(all, u, func() objects { return s.inNamespace("shop-d") })
	s.kubectl("", "delete", "namespace/shop-d", "--wait=false")
}

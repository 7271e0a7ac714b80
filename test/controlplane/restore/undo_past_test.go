package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// revision is the newest one of the cluster.
func (s *scene) revision() string {
	s.Helper()
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	s.check(json.Unmarshal([]byte(s.kubectl("", "get", "--raw", "/api/v1/namespaces?limit=1")), &list))
	return list.Metadata.ResourceVersion
}

// remembered is the backup that an undo makes of what is remembered, and what it would do.
func (s *scene) remembered(args ...string) *report.Undo {
	s.Helper()
	a := s.gc(append([]string{"undo", "--dry-run", "-o", "json"}, args...)...)
	var u report.Undo
	if err := json.Unmarshal([]byte(a.out), &u); err != nil || a.code != 0 || u.Lost == nil {
		s.Fatalf("exit code %d, %v\n%s%s", a.code, err, a.out, a.errOut)
	}
	if !printed.MatchString(a.errOut) {
		s.Errorf("the command that does it is not there, or has more than a backup needs:\n%s", a.errOut)
	}
	return &u
}

// printed is the command that undoes what was kept, as it is printed.
var printed = regexp.MustCompile(`(?m)^  kubectl gc undo [\w-]+ (--as=dev )?--kubeconfig=\S+ --output=json --confirm=sha256:[0-9a-f]{64}$`)

// broughtBack are the runs of an undo of what is remembered, by a person who says yes to each plan.
func (s *scene) broughtBack(args ...string) *report.Undo {
	s.Helper()
	name := s.kubectl("", "config", "current-context")
	a := s.typed(person{strings.NewReader(name + "\n" + name + "\n")}, append([]string{"undo", "-o", "json"}, args...)...)
	if a.code != 0 {
		s.Fatalf("exit code %d\n%s%s", a.code, a.out, a.errOut)
	}
	var all report.Undo
	for d := json.NewDecoder(strings.NewReader(a.out)); d.More(); {
		var u report.Undo
		s.check(d.Decode(&u))
		all.Steps, all.Skipped = append(all.Steps, u.Steps...), append(all.Skipped, u.Skipped...)
	}
	return &all
}

// person is somebody at a terminal, which hands over one line at a time.
type person struct{ *strings.Reader }

// AtTerminal says that somebody is there.
func (person) AtTerminal() bool { return true }

func (p person) Read(b []byte) (int, error) {
	for n := range b {
		c, err := p.ReadByte()
		if err != nil {
			return n, err
		}
		if b[n] = c; c == '\n' {
			return n + 1, nil
		}
	}
	return len(b), nil
}

// settled waits until nobody writes any more what a question finds, and returns that.
func (s *scene) settled(find func() objects) objects {
	s.Helper()
	var now objects
	cluster.Until(s.T, "nothing is written any more", func() bool {
		last := now
		now = find()
		return maps.EqualFunc(last, now, func(a, b *seen) bool { return a.ResourceVersion == b.ResourceVersion })
	})
	return now
}

// more is what a namespace has that people work in, beside what is in the shop.
const more = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop-a}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: runner, namespace: shop-a}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: shop-a}
spec: {podSelector: {}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop-a}
spec: {rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop-a}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop-a}
spec: {maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: shop-a}
spec: {hard: {configmaps: "100"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: shop-a}
spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 2Gi}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop-a}
spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}
---
apiVersion: v1
kind: PodTemplate
metadata: {name: shape, namespace: shop-a}
template: {spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Secret
metadata: {name: sh.helm.release.v1.shop.v1, namespace: shop-a, labels: {owner: helm, name: shop, status: deployed, version: "1"}}
type: helm.sh/release.v1
data: {release: SDRzSUFBQUFBQUFBLys=}
`

// furnished is the shop with all kinds of things that people make, 60 objects at least.
func (s *scene) furnished() objects {
	s.Helper()
	before := s.built()
	s.create(more)
	uid := s.kubectl("", "get", "lamp/hall", "-n", "shop-a", "-o", "jsonpath={.metadata.uid}")
	fill := strings.NewReplacer("KIND", "ConfigMap", "OWNER", "Lamp", "UID", uid, "street", "hall", "shop-b", "shop-a",
		"apiVersion: undo.example.com/v1\nkind: KIND", "apiVersion: v1\nkind: ConfigMap")
	for i := range 12 {
		s.create(fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page-%d, namespace: shop-a}\ndata: {text: \"%d\"}", i, i))
		s.create(fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: key-%d, namespace: shop-a}\nstringData: {key: \"%d\"}", i, i))
		s.create(strings.ReplaceAll(fill.Replace(below), "NAME", fmt.Sprintf("bulb-%d", i)))
	}
	before = s.settled(func() objects { return s.inNamespace("shop-a") })
	// Nobody looks for these: they come and go, and are not part of what is remembered.
	maps.DeleteFunc(before, func(_ string, x *seen) bool { return x.Kind == "Event" || x.Kind == "Lease" })
	kinds := map[string]bool{}
	for _, x := range before {
		kinds[x.Kind] = true
	}
	if len(before) < 60 || len(kinds) < 20 {
		s.Fatalf("%d objects of %d kinds", len(before), len(kinds))
	}
	return before
}

// A namespace that somebody has deleted with kubectl comes back from what the API server
// remembers: everything that no controller makes, with Secrets, claims, custom resources and
// what they own. The real collector takes none of it.
func TestNamespaceComesBackWithoutBackup(t *testing.T) {
	s := enter(t)
	before := s.furnished()
	since := s.revision()
	s.kubectl("", "delete", "namespace/shop-a", "--wait=false")
	s.kubectl("", "delete", "pods", "--all", "-n", "shop-a", "--force", "--grace-period=0", "--ignore-not-found")
	s.gone("/api/v1/namespaces/shop-a")

	plan := s.remembered("--since-revision="+since, "-n", "shop-a")
	if len(plan.Lost.Requests) == 0 || plan.Lost.Requests[0].Objects[0].Kind != "Namespace" {
		t.Errorf("taken by %+v", plan.Lost.Requests)
	}
	u := s.undone(plan.Bundle)
	s.back(before, u, func() objects { return s.inNamespace("shop-a") })
	s.define()
	s.collected("shop-a", "lamps")
	s.back(before, u, func() objects { return s.inNamespace("shop-a") })
	s.kubectl("", "delete", "namespace/shop-a", "--wait=false")
}

// A namespace with many objects, made a moment before beside a kind that is written all the time, comes back
// whole after the API server has started anew, too: then it remembers no change, and its storage all states.
func TestManyComeBackAfterARestart(t *testing.T) {
	s := enter(t)
	since := s.revision()
	s.create("apiVersion: v1\nkind: Namespace\nmetadata: {name: many}")
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page-%02d, namespace: many}\ndata: {text: \"%d\"}", i, i))
	}
	for i := range 10 {
		all = append(all, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: key-%02d, namespace: many}\nstringData: {key: \"%d\"}", i, i))
	}
	s.create(strings.Join(all, "\n---\n"))
	s.create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: busy, namespace: default}")
	before := s.settled(func() objects { return s.inNamespace("many") })
	maps.DeleteFunc(before, func(_ string, x *seen) bool { return x.Kind == "Event" || x.Kind == "Lease" })

	writing, stop := context.WithCancel(s.ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; writing.Err() == nil; n++ {
			body := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
			_, _ = s.plane.Do(writing, http.MethodPatch, "/api/v1/namespaces/default/configmaps/busy", "application/merge-patch+json", body)
		}
	}()
	s.kubectl("", "delete", "namespace/many", "--wait=false")
	s.gone("/api/v1/namespaces/many")
	stop()
	<-stopped
	s.check(s.plane.Backup())

	plan := s.remembered("--since-revision="+since, "-n", "many")
	if len(plan.Lost.Requests) != 1 || plan.Lost.Requests[0].Objects[0].Kind != "Namespace" || plan.Summary.Planned < 71 {
		t.Errorf("%d steps, taken by %+v", plan.Summary.Planned, plan.Lost.Requests)
	}
	u := s.undone(plan.Bundle)
	s.back(before, u, func() objects { return s.inNamespace("many") })
	s.kubectl("", "delete", "configmap/busy", "-n", "default")
	s.kubectl("", "delete", "namespace/many", "--wait=false")
}

// A CRD comes back first, then its instances, which the API server shows once it is there, and
// what they own. What belongs to one and is still there, since the collector cannot look for an
// owner whose kind is not served, belongs to the new one.
func TestDefinitionComesBackWithoutBackup(t *testing.T) {
	s := enter(t)
	s.define()
	s.create(strings.ReplaceAll(owned, "shop-b", "shop-e"))
	s.collected("shop-e", "lamps")
	const instances = 50
	for i := range instances {
		name := fmt.Sprintf("lamp-%d", i)
		s.create(strings.NewReplacer("NS", "shop-e", "hall", name).Replace(lamp))
		uid := s.kubectl("", "get", "lamp/"+name, "-n", "shop-e", "-o", "jsonpath={.metadata.uid}")
		s.belongs("shop-e", name, name, uid)
	}
	s.create(strings.NewReplacer("NS", "shop-e", "hall", "lone").Replace(lamp))
	current := func() objects {
		all := s.inNamespace("shop-e")
		maps.Copy(all, s.named("customresourcedefinitions", "lamps.undo.example.com"))
		return all
	}
	before := s.settled(current)
	maps.DeleteFunc(before, func(_ string, x *seen) bool {
		return x.Kind == "Namespace" || x.Kind == "ServiceAccount" || x.Name == "kube-root-ca.crt"
	})
	since := s.revision()
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	s.outlived("shop-e", "lamp-")
	cluster.Until(t, "what the instances owned is gone", func() bool {
		return s.kubectl("", "get", "configmaps", "-n", "shop-e", "-o", "name") == "configmap/kube-root-ca.crt"
	})

	s.blind("shop-e")
	lone, late := before[keyOf("undo.example.com/v1", "Lamp", "shop-e", "lone")], keyOf("v1", "ConfigMap", "shop-e", "late")
	s.belongs("shop-e", "late", "lone", string(lone.UID))
	before[late] = s.inNamespace("shop-e")[late]

	first := s.remembered("--since-revision="+since, "-A")
	if first.Later == nil || len(first.Later.CRDs) != 1 || first.Later.Dependents != 1 || len(first.Steps) != 1 {
		t.Fatalf("the CRD does not come first: %+v, steps %+v", first.Later, first.Steps)
	}
	u := s.broughtBack("--since-revision="+since, "-A")
	restored(objects{late: before[late]}, u)
	s.back(before, u, current)
	s.collected("shop-e", "lamps")
	s.back(before, u, current)
	s.kubectl("", "delete", "namespace/shop-e", "--wait=false")
}

// outlived deletes the ConfigMaps with a prefix that the collector has left when it has done all that
// it knows of. With a CRD, the API server ends the watches of its instances, whether or not they have
// told the collector that the last instances are gone. It never looks at what belongs to these.
func (s *scene) outlived(namespace, prefix string) {
	s.Helper()
	s.fence(namespace, "fence-0")
	for name := range strings.FieldsSeq(s.kubectl("", "get", "configmaps", "-n", namespace, "-o", "name")) {
		if strings.HasPrefix(name, "configmap/"+prefix) {
			s.kubectl("", "delete", name, "-n", namespace, "--ignore-not-found")
		}
	}
}

// belongs makes a ConfigMap that belongs to a Lamp.
func (s *scene) belongs(namespace, name, owner, uid string) {
	s.Helper()
	s.create(strings.NewReplacer("undo.example.com/v1\nkind: KIND", "v1\nkind: ConfigMap", "NAME", name, "OWNER", "Lamp", "street", owner, "UID", uid, "shop-b", namespace).Replace(below))
}

// blind returns when the collector cannot look for Lamps any more, and so keeps what belongs to
// one: that of the last one stays while it takes what was made after that.
func (s *scene) blind(namespace string) {
	s.Helper()
	tries := 0
	cluster.Until(s.T, "the collector does not know Lamps", func() bool {
		tries++
		probe, fence := fmt.Sprintf("probe-%d", tries), fmt.Sprintf("fence-%d", tries)
		s.belongs(namespace, probe, "none", probe)
		s.fence(namespace, fence)
		left := s.kubectl("", "get", "configmap/"+probe, "-n", namespace, "--ignore-not-found", "-o", "name") != ""
		if left {
			s.kubectl("", "delete", "configmap/"+probe, "-n", namespace)
		}
		return left
	})
}

// fence returns when the collector has deleted garbage that is made here, and what it knew of before.
func (s *scene) fence(namespace, name string) {
	s.Helper()
	s.create(strings.NewReplacer("undo.example.com/v1\nkind: KIND", "v1\nkind: ConfigMap", "undo.example.com/v1", "v1", "NAME", name, "OWNER", "Secret", "UID", name, "shop-b", namespace).Replace(below))
	s.gone("/api/v1/namespaces/" + namespace + "/configmaps/" + name)
}

const owners = `
apiVersion: v1
kind: Namespace
metadata: {name: shop-f}
---
apiVersion: undo.example.com/v1
kind: Lamp
metadata: {name: street, namespace: shop-f}
spec: {watts: 60}
`

// lit is a namespace with an owner, and five objects below it.
func (s *scene) lit(namespace string) objects {
	s.Helper()
	s.define()
	s.create(strings.ReplaceAll(owners, "shop-f", namespace))
	s.collected(namespace, "lamps")
	uid := s.kubectl("", "get", "lamp/street", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	for i := range 5 {
		s.create(strings.NewReplacer("undo.example.com/v1\nkind: KIND", "v1\nkind: ConfigMap", "NAME", fmt.Sprintf("below-%d", i), "OWNER", "Lamp", "UID", uid, "shop-b", namespace).Replace(below))
	}
	before := s.settled(func() objects { return s.inNamespace(namespace) })
	maps.DeleteFunc(before, func(_ string, x *seen) bool {
		return x.Kind == "Namespace" || x.Kind == "ServiceAccount" || x.Name == "kube-root-ca.crt"
	})
	return before
}

// What was deleted with its owner, or released from it, comes back with the owner, and belongs
// to it again.
func TestOwnersComeBackWithoutBackup(t *testing.T) {
	for cascade, namespace := range map[string]string{"background": "shop-f", "foreground": "shop-g", "orphan": "shop-h"} {
		t.Run(cascade, func(t *testing.T) {
			s := enter(t)
			before := s.lit(namespace)
			since := s.revision()
			s.kubectl("", "delete", "lamps", "--all", "-n", namespace, "--cascade="+cascade)
			s.gone("/apis/undo.example.com/v1/namespaces/" + namespace + "/lamps/street")
			if cascade == "background" {
				s.gone("/api/v1/namespaces/" + namespace + "/configmaps/below-4")
			}
			cluster.Until(t, "the collector is done", func() bool {
				out := s.kubectl("", "get", "configmaps", "-n", namespace, "-o", "jsonpath={.items[*].metadata.ownerReferences}")
				return out == ""
			})
			u := s.undone(s.remembered("--since-revision="+since, "-n", namespace).Bundle)
			if cascade == "orphan" {
				restored(before, u)
			}
			s.back(before, u, func() objects { return s.inNamespace(namespace) })
			s.collected(namespace, "lamps")
			s.back(before, u, func() objects { return s.inNamespace(namespace) })
			s.kubectl("", "delete", "namespace/"+namespace, "--wait=false")
		})
	}
}

// restored counts what got its references back as made: it has to be as it was.
func restored(before objects, u *report.Undo) {
	for i := range u.Steps {
		if x := &u.Steps[i]; before[keyOf(x.Object.APIVersion, x.Object.Kind, x.Object.Namespace, x.Object.Name)] != nil {
			x.Verb = "Create"
		}
	}
}

// What was collected because its owner was made again, with another uid, belongs to the new one.
func TestOwnerMadeAgainWithoutBackup(t *testing.T) {
	const namespace = "shop-i"
	s := enter(t)
	before := s.lit(namespace)
	since := s.revision()
	s.kubectl(strings.NewReplacer("shop-f", namespace).Replace(owners[strings.Index(owners, "---")+4:]), "replace", "--force", "-f", "-")
	s.gone("/api/v1/namespaces/" + namespace + "/configmaps/below-4")
	cluster.Until(t, "the collector is done", func() bool {
		return s.kubectl("", "get", "configmaps", "-n", namespace, "-o", "jsonpath={.items[*].metadata.ownerReferences}") == ""
	})
	u := s.undone(s.remembered("--since-revision="+since, "-n", namespace).Bundle)
	s.back(before, u, func() objects { return s.inNamespace(namespace) })
	s.collected(namespace, "lamps")
	s.back(before, u, func() objects { return s.inNamespace(namespace) })
}

// A snapshot of etcd remembers a CRD, its instances and what they owned: all of it comes back by
// one undo.
func TestDefinitionComesBackFromSnapshot(t *testing.T) {
	const namespace = "shop-j"
	s := enter(t)
	before := s.lit(namespace)
	maps.Copy(before, s.named("customresourcedefinitions", "lamps.undo.example.com"))
	since := s.revision()
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	cluster.Until(t, "the collector is done", func() bool {
		return s.kubectl("", "get", "configmaps", "-n", namespace, "-o", "jsonpath={.items[*].metadata.ownerReferences}") == ""
	})
	file := filepath.Join(t.TempDir(), "snapshot.db")
	s.check(s.plane.Snapshot(file))
	s.kubectl("", "delete", "namespace/"+namespace) // the present is another one than that of the file
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}")

	u := s.undone(s.remembered("--from="+file, "--since-revision="+since, "-A").Bundle)
	current := func() objects {
		all := s.inNamespace(namespace)
		maps.Copy(all, s.named("customresourcedefinitions", "lamps.undo.example.com"))
		return all
	}
	s.back(before, u, current)
	s.kubectl("", "delete", "namespace/"+namespace, "--wait=false")
}

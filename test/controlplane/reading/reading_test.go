package reading

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// shop is something of every kind whose spec or status matters, and of some whose
// metadata is all.
const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: web}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  labels: {app: web, tier: front}
  annotations: {long: story, kubectl-gc.io/protect: "true", helm.sh/resource-policy: keep}
  finalizers: [example.com/hold, foregroundDeletion]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: of-default, namespace: shop, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Secret
metadata: {name: pull, namespace: shop, annotations: {kubernetes.io/service-account.name: default, kubernetes.io/service-account.uid: u}}
type: kubernetes.io/dockercfg
data: {.dockercfg: e30=}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: none, controller: true, blockOwnerDeletion: false}]
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 7
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /x}
  claimRef: {namespace: shop, name: disk, uid: none}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: first, namespace: shop, finalizers: [example.com/hold]}
spec: {phase: none}
`

// TestReading shares one world: reading first, then what changes it.
func TestReading(t *testing.T) {
	apply(t, shop)
	served(t, "widgets")
	apply(t, widget)
	t.Run("snapshot", testSnapshot)
	t.Run("identity", testIdentity)
	t.Run("targets", testTargets)
	t.Run("feed", testFeed)
	t.Run("absence", testAbsence)
	t.Run("writes", testWrites)
}

// testSnapshot: the objects of a snapshot of the server are those that kubectl
// prints, with all that is kept of them; nothing is missing.
func testSnapshot(t *testing.T) {
	ctx, c := connect(t, "shop")
	dir := t.TempDir()
	kinds, err := plane.Kubectl(ctx, nil, "api-resources", "--verbs=list,delete", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(strings.Fields(string(kinds)), ",")
	var live *snapshot.Snapshot
	agree := func(what string, other func() *snapshot.Snapshot) {
		t.Helper()
		var differ []string
		// The server renews its own lease: what changes meanwhile is compared again.
		cluster.Until(t, what, func() bool {
			before := other()
			if live, err = c.Snapshot(ctx, kube.Scope{}, nil); err != nil {
				t.Fatal(err)
			}
			if again := compare(live, before); !slices.Equal(again, differ) {
				differ = again
				t.Log(strings.Join(differ, "\n"))
			}
			return len(differ) == 0
		})
	}
	agree("the snapshot shows what kubectl prints", func() *snapshot.Snapshot { return dump(ctx, t, dir, all) })
	if len(live.Gaps) > 0 || len(live.Problems) > 0 || !live.KnowsAllKinds() {
		t.Errorf("gaps %v, problems %v", live.Gaps, live.Problems)
	}
	if live.Source.KubernetesVersion == "" || live.Source.ClusterUID == "" || live.Source.TakenAt == "" {
		t.Errorf("source %+v", live.Source)
	}
	if r, err := live.Resources.For("example.com/v1", "Widget"); err != nil || !r.Custom {
		t.Errorf("widgets: %+v, %v", r, err)
	}
	pod := live.Find("v1", "Pod", "shop", "web")
	if pod == nil || pod.Pod() == nil || len(pod.Pod().Claims) != 1 {
		t.Errorf("the pod: %+v", pod)
	}
	token := live.Find("v1", "Secret", "shop", "of-default")
	if token == nil || token.Token() == nil || !token.Token().Sure || token.Token().Account != "default" {
		t.Errorf("the token: %+v", token)
	}

	paged, err := plane.Connect(kube.Options{ChunkSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer paged.Close()
	agree("the snapshot shows the same in pages", func() *snapshot.Snapshot {
		again, err := paged.Snapshot(ctx, kube.Scope{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return again
	})
}

// dump is what kubectl prints of all kinds, as a snapshot.
func dump(ctx context.Context, t *testing.T, dir, kinds string) *snapshot.Snapshot {
	t.Helper()
	text, err := plane.Kubectl(ctx, nil, "get", kinds, "--all-namespaces", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "all.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.ReadFiles([]string{file}, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compare lists what differs between two snapshots.
func compare(a, b *snapshot.Snapshot) []string {
	var differ []string
	index := map[object.Ref]*object.Object{}
	for _, o := range b.Objects {
		index[o.Ref] = o
	}
	for _, o := range a.Objects {
		switch other := index[o.Ref]; {
		case other == nil:
			differ = append(differ, "only in the first: "+o.Ref.String())
		case !object.Equal(o, other):
			differ = append(differ, fmt.Sprintf("%s: %+v %+v, %+v %+v", o.Ref, o, o.Lifecycle, other, other.Lifecycle))
		}
		delete(index, o.Ref)
	}
	for ref := range index {
		differ = append(differ, "only in the second: "+ref.String())
	}
	slices.Sort(differ)
	return differ
}

func testIdentity(t *testing.T) {
	ctx, c := connect(t, "shop")
	id, err := c.Identity(ctx)
	if err != nil || id.Server != plane.URL || id.ClusterUID == "" || id.User == "" || id.Context == "" {
		t.Errorf("%+v, %v", id, err)
	}
}

// testTargets: objects are named as for kubectl.
func testTargets(t *testing.T) {
	ctx, c := connect(t, "shop")
	shop := plane.Flags()
	shop.Namespace = new("shop")
	file := filepath.Join(t.TempDir(), "widget.yaml")
	if err := os.WriteFile(file, []byte(widget), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		targets command.Selection
		want    string
	}{
		"type and name": {command.Selection{Args: []string{"cm", "settings"}}, "v1 ConfigMap shop/settings"},
		"slashed":       {command.Selection{Args: []string{"deploy/web", "jobs.batch/once"}}, "apps/v1 Deployment shop/web, batch/v1 Job shop/once"},
		"labels":        {command.Selection{Args: []string{"configmaps"}, Labels: "tier=front", AllNamespaces: true}, "v1 ConfigMap shop/settings"},
		"a field":       {command.Selection{Args: []string{"ns"}, Fields: "metadata.name=shop"}, "v1 Namespace shop"},
		"a file":        {command.Selection{Files: resource.FilenameOptions{Filenames: []string{file}}}, "example.com/v1 Widget shop/first"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := command.Resolve(ctx, shop, c, f.targets)
			var names []string
			for _, o := range found {
				names = append(names, o.Ref.String())
				if o.UID == "" || o.ResourceVersion == "" {
					t.Errorf("%s has no uid or resourceVersion", o.Ref)
				}
			}
			if err != nil || strings.Join(names, ", ") != f.want {
				t.Errorf("found %v, %v", names, err)
			}
		})
	}
	if _, err := command.Resolve(ctx, shop, c, command.Selection{Args: []string{"cm/none"}}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// typeless is an object as a watch of metadata shows it, which does not say whether a
// Secret is a token.
func typeless(o *object.Object) *object.Object {
	if o.Token() == nil {
		return o
	}
	o = o.Clone()
	o.Edit().Facts = nil
	return o
}

// testFeed: the feed shows the world, every change of it, and kinds that come and
// go.
func testFeed(t *testing.T) {
	ctx, c := connect(t, "shop")
	following, stop := context.WithCancel(ctx)
	feed := c.Follow(following, kube.FollowOptions{
		SyncPeriod: 100 * time.Millisecond,
		Wants:      func(r object.Resource) bool { return r.Name != "leases" },
	})
	known := map[types.UID]*object.Object{}
	see := func(e object.Event) {
		if e.Type == object.Deleted {
			delete(known, e.Object.UID)
			return
		}
		known[e.Object.UID] = e.Object
	}
	for synced := feed.Synced(); synced != nil; {
		select {
		case e := <-feed.Events():
			see(e)
		case <-synced:
			synced = nil
		}
	}
	receive := func(what string, holds func() bool) {
		t.Helper()
		for late := time.After(cluster.Patience); !holds(); {
			select {
			case e := <-feed.Events():
				see(e)
			case <-late:
				t.Fatalf("never: %s", what)
			}
		}
	}
	var differ []string
	cluster.Until(t, "the feed shows what a snapshot shows", func() bool {
		for more := true; more; {
			select {
			case e := <-feed.Events():
				see(e)
			default:
				more = false
			}
		}
		live, err := c.Snapshot(ctx, kube.Scope{Exclude: []string{"events", "leases.*"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := &snapshot.Snapshot{}
		for _, o := range known {
			seen.Objects = append(seen.Objects, typeless(o))
		}
		for i, o := range live.Objects {
			live.Objects[i] = typeless(o)
		}
		if again := compare(live, seen); !slices.Equal(again, differ) {
			differ = again
			t.Log(strings.Join(differ, "\n"))
		}
		return len(differ) == 0
	})
	named := func(kind, name string) bool {
		for _, o := range known {
			if o.Kind == kind && o.Name == name {
				return true
			}
		}
		return false
	}
	apply(t, "{apiVersion: v1, kind: Pod, metadata: {name: late, namespace: shop}, spec: {containers: [{name: c, image: i}]}}")
	receive("a new pod", func() bool { return named("Pod", "late") })
	if _, err := plane.Kubectl(ctx, nil, "delete", "pod", "late", "-n", "shop", "--grace-period=0", "--force"); err != nil {
		t.Fatal(err)
	}
	receive("that it goes", func() bool { return !named("Pod", "late") })
	apply(t, strings.ReplaceAll(shop[strings.LastIndex(shop, "---"):], "idget", "adget"))
	served(t, "wadgets")
	apply(t, strings.ReplaceAll(widget, "idget", "adget"))
	receive("an object of a new kind", func() bool { return named("Wadget", "first") })
	stop()
	for range feed.Events() {
	}
	<-feed.Done()
}

// testAbsence: what is not there is proven absent, and what stands behind a path
// that is served no more is not.
func testAbsence(t *testing.T) {
	ctx, c := connect(t, "shop")
	p := c.Proven(kube.ProofOptions{})
	at := func(apiVersion, kind, name string) object.Ref {
		return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name}
	}
	for _, ref := range []object.Ref{at("v1", "ConfigMap", "none"), at("example.com/v1", "Widget", "none"), {APIVersion: "v1", Kind: "Namespace", Name: "none"}} {
		if _, err := p.Get(ctx, ref); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if o, err := p.Get(ctx, at("example.com/v1", "Widget", "first")); err != nil || len(o.Finalizers()) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	// The definition goes; what was discovered does not know it yet.
	if _, err := plane.Kubectl(ctx, nil, "delete", "crd", "wadgets.example.com", "--wait=false"); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(ctx, nil, "patch", "crd", "wadgets.example.com", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	gone := at("example.com/v1", "Wadget", "first")
	cluster.Until(t, "the path goes", func() bool {
		_, err := c.Get(ctx, gone)
		_, unserved := errors.AsType[*kube.UnservedPathError](err)
		if apierrors.IsNotFound(err) {
			t.Fatalf("an object behind a path that is not served is absent: %v", err)
		}
		return unserved
	})
	if _, err := p.Get(ctx, gone); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("its absence is proven: %v", err)
	}
}

// testWrites: preconditions and forms of patches are the server's.
func testWrites(t *testing.T) {
	ctx, c := connect(t, "shop")
	ref := object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "first"}
	o, err := c.Get(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(ctx, ref, object.Patch{UID: o.UID, DeleteOwners: []types.UID{"x"}}); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("a strategic merge patch of a custom resource: %v", err)
	}
	other := types.UID("other")
	if err := c.Delete(ctx, ref, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		t.Errorf("a delete of another uid: %v", err)
	}
	if err := c.Delete(ctx, ref, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion}}); err != nil {
		t.Errorf("a delete: %v", err)
	}
	if err := c.Patch(ctx, ref, object.Patch{Type: object.Merge, ResourceVersion: o.ResourceVersion, Finalizers: &[]string{}}); !apierrors.IsConflict(err) {
		t.Errorf("a patch of an older version: %v", err)
	}
	if o, err = c.Get(ctx, ref); err != nil || !o.BeingDeleted() {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := c.Patch(ctx, ref, object.Patch{Type: object.Merge, ResourceVersion: o.ResourceVersion, Finalizers: &[]string{}}); err != nil {
		t.Errorf("a patch: %v", err)
	}
	if _, err := c.Get(ctx, ref); !apierrors.IsNotFound(err) {
		t.Errorf("after its last finalizer: %v", err)
	}
}

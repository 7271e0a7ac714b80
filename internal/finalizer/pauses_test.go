package finalizer

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestPauses checks that the finalizers of each pause and binding are known, and what pauses.
func TestPauses(t *testing.T) {
	for _, p := range pauses {
		for _, name := range p.finalizers {
			if !slices.ContainsFunc(Table(), func(k Known) bool { return k.Name == name || fits(name, k.Name) }) {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	for _, b := range bindings {
		if _, known := Of(b.finalizer); !known {
			t.Errorf("%s is not in the table", b.finalizer)
		}
	}
	for _, c := range []struct {
		apiVersion, kind, finalizer string
		annotations                 map[string]string
		labels                      map[string]string
		fields, by                  string
	}{
		{"argoproj.io/v1alpha1", "Application", argoFinalizer, map[string]string{object.ArgoPausedKey: "1"}, nil, "", "annotation argocd.argoproj.io/skip-reconcile"},
		{"argoproj.io/v1alpha1", "Application", argoFinalizer, map[string]string{object.ArgoPausedKey: "no"}, nil, "", ""},
		{"s3.aws.upbound.io/v1", "Bucket", managedFinalizer, map[string]string{object.CrossplanePausedKey: "true"}, nil, "", "annotation crossplane.io/paused"},
		{"s3.aws.upbound.io/v1", "Bucket", managedFinalizer, nil, nil, "spec.managementPolicies=", "spec.managementPolicies"},
		{"s3.aws.upbound.io/v1", "Bucket", managedFinalizer, nil, nil, "spec.managementPolicies=Observe", ""},
		{"cluster.x-k8s.io/v1beta1", "Cluster", "cluster.cluster.x-k8s.io", nil, nil, "spec.paused=true", "spec.paused of cluster.cluster.x-k8s.io/a"},
		{"cluster.x-k8s.io/v1beta1", "Cluster", "cluster.cluster.x-k8s.io", map[string]string{object.ClusterAPIPausedKey: ""}, nil, "spec.paused=false", "annotation cluster.x-k8s.io/paused"},
		{"cluster.x-k8s.io/v1beta1", "Cluster", "cluster.cluster.x-k8s.io", nil, nil, "spec.paused=false", ""},
		{"infra.contrib.fluxcd.io/v1", "Terraform", "finalizers.tf.contrib.fluxcd.io", nil, nil, "spec.suspend=true", "spec.suspend"},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", fluxFinalizer, nil, nil, "spec.suspend=true", ""},
		{"hive.openshift.io/v1", "ClusterDeployment", "hive.openshift.io/deprovision", map[string]string{object.HiveProtectedKey: "true"}, nil, "", "annotation hive.openshift.io/protected-delete"},
		{"hive.openshift.io/v1", "ClusterDeployment", "hive.openshift.io/deprovision", map[string]string{object.HivePausedKey: "true"}, nil, "", "annotation hive.openshift.io/reconcile-pause"},
		{"kamaji.clastix.io/v1alpha1", "TenantControlPlane", "finalizer.kamaji.clastix.io", map[string]string{object.KamajiPausedKey: ""}, nil, "", "annotation kamaji.clastix.io/paused"},
		{"ceph.rook.io/v1", "CephBlockPool", "cephblockpool.ceph.rook.io", nil, map[string]string{"do_not_reconcile": "true"}, "", "label do_not_reconcile"},
		{"ceph.rook.io/v1", "CephBlockPool", "cephblockpool.ceph.rook.io", nil, map[string]string{"do_not_reconcile": "yes"}, "", ""},
		{"ceph.rook.io/v1", "CephCluster", "cephcluster.ceph.rook.io", nil, map[string]string{"ceph.rook.io/do-not-reconcile": ""}, "", "label ceph.rook.io/do-not-reconcile"},
		{"kafka.strimzi.io/v1", "KafkaTopic", "strimzi.io/topic-operator", map[string]string{"strimzi.io/pause-reconciliation": "true"}, nil, "", ""},
	} {
		o := &object.Object{Ref: object.Ref{APIVersion: c.apiVersion, Kind: c.kind, Namespace: "shop", Name: "a"}, Labels: object.LabelsOf(c.labels)}
		life := o.Edit()
		life.Finalizers, life.Protection = []string{c.finalizer}, object.ProtectionOf(c.annotations)
		life.Facts = &object.OutsideFacts{Fields: fieldsOf(c.fields)}
		p := NewBindings(seen(t, o)).PauseOf(o, nil, c.finalizer)
		if p.By != c.by || (p.Why == "") != (c.by == "") || (p.On == o.Ref) != (c.by != "") {
			t.Errorf("%s with %v %v %q: %+v", c.kind, c.annotations, c.labels, c.fields, p)
		}
	}
}

// TestPausedConnector checks which settings of Config Connector count.
func TestPausedConnector(t *testing.T) {
	settings := func(kind object.Kind, namespace, name, fields string) *object.Object {
		o := &object.Object{Ref: kind.Ref(namespace, name+".core.cnrm.cloud.google.com")}
		o.UID = types.UID(name)
		o.Edit().Facts = &object.OutsideFacts{Fields: fieldsOf(fields)}
		return o
	}
	bucket := &object.Object{Ref: object.Ref{APIVersion: "storage.cnrm.cloud.google.com/v1beta1", Kind: "StorageBucket", Namespace: "shop", Name: "a"}}
	bucket.UID = "bucket"
	for _, c := range []struct {
		whole, own, on string
		stays          bool
	}{
		{"spec.actuationMode=Paused", "", "configconnector", true},
		{"spec.actuationMode=Reconciling", "spec.actuationMode=Paused", "", false}, // without a mode, that of the namespace does not count
		{"spec.mode=namespaced", "spec.actuationMode=Paused", "configconnectorcontext", true},
		{"spec.mode=namespaced spec.actuationMode=Paused", "spec.actuationMode=Reconciling", "", false},
		{"spec.mode=namespaced spec.actuationMode=Paused", "", "configconnector", true},
		{"", "", "", false},
	} {
		snap := seen(t, bucket, settings(object.ConfigConnector, "", "configconnector", c.whole), settings(object.ConfigConnectorContext, "shop", "configconnectorcontext", c.own))
		p := NewBindings(snap).PauseOf(bucket, nil, "cnrm.cloud.google.com/finalizer")
		if (p.Why != "") != c.stays || c.stays && p.On.Name != c.on+".core.cnrm.cloud.google.com" {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	if p := NewBindings(seen(t, bucket)).PauseOf(bucket, nil, "cnrm.cloud.google.com/finalizer"); p.Why != "" {
		t.Errorf("without settings: %+v", p)
	}
}

func seen(t *testing.T, objects ...*object.Object) *snapshot.Snapshot {
	t.Helper()
	snap, err := snapshot.New(objects, &object.Resources{}, snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestBindings checks when the content of a snapshot stays.
func TestBindings(t *testing.T) {
	snap := &object.Object{Ref: object.VolumeSnapshot.Ref("shop", "s")}
	snap.UID = "u1"
	for _, c := range []struct {
		uid          types.UID
		protection   object.Protection
		with         bool
		usage, stays bool
	}{
		{"u1", 0, true, true, false},
		{"u0", 0, true, true, true}, // another snapshot of the name
		{"u1", 0, false, true, true},
		{"u1", object.SnapshotGoes, false, false, false},
		{"u1", object.SnapshotBegun, true, true, true},
		{"", 0, true, false, false}, // reserved and never bound
	} {
		o := &object.Object{Ref: object.VolumeSnapshotContent.Ref("", "c")}
		life := o.Edit()
		life.Finalizers, life.Protection = []string{contentBound}, c.protection
		entry := object.InventoryEntry{Coordinates: snap.Coordinates(), UID: c.uid}
		life.Facts = &object.InventoryFacts{Entries: []object.InventoryEntry{entry}}
		world := seen(t, o)
		if c.with {
			world = seen(t, o, snap)
		}
		bindings := NewBindings(world)
		_, usage := bindings.UsageOf(o, contentBound)
		if stays := bindings.PauseOf(o, nil, contentBound).Why != ""; usage != c.usage || stays != c.stays {
			t.Errorf("%+v: usage %t, stays %t", c, usage, stays)
		}
	}
}

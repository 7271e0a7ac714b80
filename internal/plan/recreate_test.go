package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestComesBack checks the controller that recreates a deleted object. There is none if the object
// that it is created for is deleted too, or if no controller maintains it. The first object of a
// world is deleted.
//
// Covers: S065, S242
func TestComesBack(t *testing.T) {
	const (
		pod     = "v1 Pod s/p node=n1 phase=Running owners="
		address = "networking.k8s.io/v1 IPAddress 10.0.0.7 labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io"

		slice = "discovery.k8s.io/v1 EndpointSlice s/web-x labels=endpointslice.kubernetes.io/managed-by="
	)
	for _, test := range []struct {
		name   string
		world  string
		hidden string
		want   []string
	}{
		{"a pod of a ReplicaSet", pod + "r!^\napps/v1 ReplicaSet s/r", "", []string{"Pod p: replicaset-controller ReplicaSet r"}},
		{"a pod that it owns and does not control", pod + "r!\napps/v1 ReplicaSet s/r", "", nil},
		{"the ReplicaSet goes, too", "apps/v1 ReplicaSet s/r\n" + pod + "r!^", "", nil},
		{"the ReplicaSet is going", pod + "r!^\napps/v1 ReplicaSet s/r deleting fin=x/y", "", nil},
		{"the ReplicaSet is another one", pod + "apps/v1:ReplicaSet:r:older!^\napps/v1 ReplicaSet s/r", "", nil},
		{"the ReplicaSet is missing", pod + "apps/v1:ReplicaSet:r:r!^", "", nil},
		{"the ReplicaSet was not seen", pod + "apps/v1:ReplicaSet:r:r!^", "ReplicaSet", []string{"Pod p: replicaset-controller ReplicaSet r"}},
		{"a kind of another group", pod + "example.org/v1:ReplicaSet:r:r!^\nexample.com/v1 Widget s/r", "", nil},
		{"a pod that has run to its end", strings.Replace(pod, "Running", "Failed", 1) + "r!^\napps/v1 ReplicaSet s/r", "", nil},
		{"a pod that was being deleted", "v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30 owners=r!^\napps/v1 ReplicaSet s/r", "", nil},
		{"a pod of a ReplicationController", pod + "r!^\nv1 ReplicationController s/r", "", []string{"Pod p: replicationcontroller-controller ReplicationController r"}},
		{"a pod of a StatefulSet that has failed", strings.Replace(pod, "Running", "Failed", 1) + "r!^\napps/v1 StatefulSet s/r", "", []string{"Pod p: statefulset-controller StatefulSet r"}},
		{"a pod of a DaemonSet", pod + "r!^\napps/v1 DaemonSet s/r\nv1 Node n1", "", []string{"Pod p: daemonset-controller DaemonSet r"}},
		{"a pod of a DaemonSet whose node goes", "v1 Node n1\nv1 Node n2\n" + pod + "r!^\napps/v1 DaemonSet s/r", "", []string{"Node n1: kubelet"}},
		{"a pod of a Job", pod + "j!^\nbatch/v1 Job s/j finished=false", "", []string{"Pod p: job-controller Job j"}},
		{"a pod of a Job that has finished", pod + "j!^\nbatch/v1 Job s/j finished", "", nil},
		{"a pod of a Job of somebody else", pod + "j!^\nbatch/v1 Job s/j finished=false managed=x.io/y", "", nil},
		{"a mirror pod", "v1 Pod s/p node=n1 phase=Running mirror\nv1 Node n1", "", []string{"Pod p: kubelet Node n1"}},
		{"a mirror pod and its node", "v1 Node n1\nv1 Node n2\nv1 Pod s/p node=n1 phase=Running mirror owners=n1^", "", []string{"Node n1: kubelet", "Pod p: kubelet"}},
		{"a ReplicaSet", "apps/v1 ReplicaSet s/r owners=d!^\napps/v1 Deployment s/d\n" + pod + "r!^", "", []string{"ReplicaSet r: deployment-controller Deployment d"}},
		{"the current ReplicaSet", "apps/v1 ReplicaSet s/r owners=d!^ revision=3\napps/v1 Deployment s/d revision=3", "", []string{"ReplicaSet r: deployment-controller Deployment d"}},
		{"an older ReplicaSet", "apps/v1 ReplicaSet s/r owners=d!^ revision=2\napps/v1 Deployment s/d revision=3", "", nil},
		{"slices of a Service", slice + "endpointslice-controller.k8s.io owners=web!^\nv1 Service s/web", "", []string{"EndpointSlice web-x: endpointslice-controller Service web"}},
		{"slices of Endpoints", slice + "endpointslicemirroring-controller.k8s.io owners=web!^\nv1 Endpoints s/web", "", []string{"EndpointSlice web-x: endpointslice-mirroring-controller Endpoints web"}},
		{"slices of somebody else", slice + "cilium.io owners=web!^\nv1 Service s/web", "", nil},
		{"Endpoints of a Service", "v1 Endpoints s/web labels=endpoints.kubernetes.io/managed-by=endpoint-controller\nv1 Service s/web uid=service", "", []string{"Endpoints web: endpoints-controller Service web"}},
		{"Endpoints that nobody keeps", "v1 Endpoints s/web\nv1 Service s/web uid=service", "", nil},
		{"Endpoints of a Service that is missing", "v1 Endpoints s/web labels=endpoints.kubernetes.io/managed-by=endpoint-controller", "", nil},
		{"endpoints of the API server", "v1 Endpoints default/kubernetes", "", []string{"Endpoints kubernetes: kube-apiserver"}},
		{"the claim of a pod", "v1 PersistentVolumeClaim s/p-v owners=p!^\nv1 Pod s/p node= claims=~p-v", "", []string{"PersistentVolumeClaim p-v: ephemeral-volume-controller Pod p"}},
		{"the claim of a pod that ended", "v1 PersistentVolumeClaim s/p-v owners=p!^\nv1 Pod s/p node= phase=Failed claims=~p-v", "", nil},
		{"the device of a pod", "resource.k8s.io/v1 ResourceClaim s/p-d owners=p^\nv1 Pod s/p node= claims=", "", []string{"ResourceClaim p-d: resourceclaim-controller Pod p"}},
		{"a claim of nobody", "v1 PersistentVolumeClaim s/c", "", nil},
		{"the lease of a node", "coordination.k8s.io/v1 Lease kube-node-lease/n1 uid=lease owners=n1\nv1 Node n1", "", []string{"Lease n1: kubelet Node n1"}},
		{"a node with its lease", "v1 Node n1\ncoordination.k8s.io/v1 Lease kube-node-lease/n1 uid=lease owners=n1\nstorage.k8s.io/v1 CSINode n1 uid=csi owners=n1\nv1 Node n2", "", []string{"Node n1: kubelet"}},
		{"the lease of an API server", "coordination.k8s.io/v1 Lease kube-system/apiserver-x labels=apiserver.kubernetes.io/identity=kube-apiserver", "", []string{"Lease apiserver-x: kube-apiserver"}},
		{"any lease", "coordination.k8s.io/v1 Lease kube-system/mine", "", nil},
		{"what a namespace has", "v1 ServiceAccount s/default\nv1 Namespace s phase=Active spec=kubernetes", "", []string{"ServiceAccount default: serviceaccount-controller Namespace s"}},
		{"another ServiceAccount", "v1 ServiceAccount s/other\nv1 Namespace s phase=Active spec=kubernetes", "", nil},
		{"the root certificate", "v1 ConfigMap s/kube-root-ca.crt", "Namespace", []string{"ConfigMap kube-root-ca.crt: root-ca-certificate-publisher-controller Namespace s"}},
		{"a namespace with what it has", "v1 Namespace s phase=Active spec=kubernetes\nv1 ServiceAccount s/default\nv1 ConfigMap s/kube-root-ca.crt", "", nil},
		{"a namespace of the system", "v1 Namespace kube-node-lease phase=Active spec=kubernetes", "", []string{"Namespace kube-node-lease: kube-apiserver"}},
		{"the Service of the API server", "v1 Service default/kubernetes", "", []string{"Service kubernetes: kube-apiserver"}},
		{"a Service of that name", "v1 Service s/kubernetes", "", nil},
		{"the first range of addresses", "networking.k8s.io/v1 ServiceCIDR kubernetes cidrs=10.0.0.0/24", "", []string{"ServiceCIDR kubernetes: kube-apiserver"}},
		{"the address of a Service", address + " of=s/web\nv1 Service s/web", "", []string{"IPAddress 10.0.0.7: kube-apiserver Service web"}},
		{"the address of a Service that goes", "v1 Service s/web\n" + address + " of=s/web", "", nil},
		{"an address of nobody knows whom", address + "\nv1 Service s/web", "", nil},
		{"the revision of a StatefulSet", "apps/v1 ControllerRevision s/db-1 owners=db!^\napps/v1 StatefulSet s/db", "", []string{"ControllerRevision db-1: statefulset-controller StatefulSet db"}},
		{"the revision of a DaemonSet that goes", "apps/v1 DaemonSet s/ds\napps/v1 ControllerRevision s/ds-1 owners=ds!^", "", nil},
		{"what an API server says of itself", "v1 ConfigMap kube-system/extension-apiserver-authentication", "", []string{"ConfigMap extension-apiserver-authentication: kube-apiserver"}},
		{"the same elsewhere", "v1 ConfigMap s/extension-apiserver-authentication", "", nil},
		{"a role of the system", "rbac.authorization.k8s.io/v1 ClusterRole view labels=kubernetes.io/bootstrapping=rbac-defaults", "", []string{"ClusterRole view: kube-apiserver"}},
		{"a role", "rbac.authorization.k8s.io/v1 ClusterRole view", "", nil},
		{"an APIService of the API server", "apiregistration.k8s.io/v1 APIService v1.apps labels=kube-aggregator.kubernetes.io/automanaged=onstart", "", []string{"APIService v1.apps: kube-apiserver"}},
		{"an APIService of a CRD", "apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true\napiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets established", "",
			[]string{"APIService v1.example.com: kube-apiserver CustomResourceDefinition widgets.example.com"}},
		{"an APIService without one", "apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true", "", nil},
		{"an APIService of somebody", "apiregistration.k8s.io/v1 APIService v1.example.com", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			deleted := false
			for _, e := range protectedWorld(t, test.world, test.hidden) {
				deleted = deleted || e.Outcome == report.Deleted
				if e.Recreator == "" && e.RecreatedBy == nil {
					continue
				}
				line := e.Object.Kind + " " + e.Object.Name + ": " + e.Recreator
				if e.RecreatedBy != nil {
					line += " " + e.RecreatedBy.Kind + " " + e.RecreatedBy.Name
				}
				got = append(got, line)
				if e.Outcome != report.Deleted || !slices.ContainsFunc(e.Assumptions, func(a string) bool { return strings.HasPrefix(a, "for what comes back, ") }) {
					t.Errorf("%s: %s, assuming %q", line, e.Outcome, e.Assumptions)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what comes back (-want +got):\n%s", diff)
			}
			if !deleted {
				t.Error("nothing goes at all")
			}
		})
	}
}

// TestOlderRevisionsMayBeCurrent checks that the recreation of a ReplicaSet is an assumption if its
// revision was not seen.
func TestOlderRevisionsMayBeCurrent(t *testing.T) {
	for revision, want := range map[string]bool{"": true, "revision=3": false} {
		effects := protectedWorld(t, "apps/v1 ReplicaSet s/r owners=d!^ "+revision+"\napps/v1 Deployment s/d revision=3")
		if got := strings.Contains(strings.Join(effects[0].Assumptions, ""), "current revision"); got != want {
			t.Errorf("%q: %q", revision, effects[0].Assumptions)
		}
	}
}

// TestNobodyCreatesForWhatGoes checks that the object that another one is recreated for exists in
// the end, in any world.
func TestNobodyCreatesForWhatGoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("v1 Namespace s phase=Active spec=kubernetes\nv1 Node n1\nv1 ServiceAccount s/default\nv1 Service s/web\napps/v1 Deployment s/d\napps/v1 ReplicaSet s/r owners=d!^\n")
		b.WriteString("discovery.k8s.io/v1 EndpointSlice s/web-x owners=web!^ labels=endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io\n")
		for _, name := range []string{"a", "b"} {
			b.WriteString("v1 Pod s/" + name + " node=n1 phase=Running owners=r!^ " + rapid.SampledFrom([]string{"", "fin=x/y", "deleting=+30 grace=30"}).Draw(t, "pod") + "\n")
		}
		objects, err := scenario.ParseWorld(b.String(), scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		target := rapid.SampledFrom(objects).Draw(t, "target")
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, target.Ref), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		after := result.After()
		for _, e := range result.Plan.Effects {
			if e.RecreatedBy == nil {
				continue
			}
			for _, o := range after {
				if o.UID == e.RecreatedBy.UID && !o.BeingDeleted() {
					e.RecreatedBy = nil
					break
				}
			}
			if e.RecreatedBy != nil {
				t.Fatalf("%s comes back for %s, which goes", e.Object.KubectlName(), e.RecreatedBy.KubectlName())
			}
		}
	})
}

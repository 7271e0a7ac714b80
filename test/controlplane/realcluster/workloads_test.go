package realcluster

import (
	"fmt"
	"path"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// run schedules a pod and says that it runs, as a scheduler and a kubelet do.
func run(t *testing.T, pod, node string) {
	t.Helper()
	post(t, pod+"/binding", fmt.Sprintf(`{"metadata":{"name":%q},"target":{"apiVersion":"v1","kind":"Node","name":%q}}`, path.Base(pod), node))
	patch(t, pod+"/status", `{"status":{"phase":"Running"}}`)
}

// podsOf waits for so many pods of a namespace that nobody deletes and that an
// owner controls.
func podsOf(t *testing.T, namespace string, owner types.UID, n int) []corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	await(t, func() string {
		found = nil
		for _, p := range read[corev1.PodList](t, "/api/v1/namespaces/"+namespace+"/pods").Items {
			if c := metav1.GetControllerOf(&p); c != nil && c.UID == owner && p.DeletionTimestamp == nil {
				found = append(found, p)
			}
		}
		if len(found) != n {
			return fmt.Sprintf("%d pods of %s, not %d", len(found), owner, n)
		}
		return ""
	})
	return found
}

func uidOf(t *testing.T, path string) types.UID {
	t.Helper()
	return read[metav1.PartialObjectMetadata](t, path).UID
}

// pod is an object of the file.
func pod(name, uid string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: name, UID: types.UID(uid)}
}

// job runs a Job of one pod for a file that calls them j and p, on node n1.
func job(t *testing.T, file string) *story {
	t.Helper()
	s := begin(t, file)
	s.namespace("shop")
	post(t, "/api/v1/nodes", fmt.Sprintf(`{"metadata":{"name":"%s-n1"}}`, s.name))
	space := s.name + "-shop"
	post(t, "/apis/batch/v1/namespaces/"+space+"/jobs", `{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	j := object.Ref{APIVersion: "batch/v1", Kind: "Job", Namespace: "shop", Name: "j", UID: "j"}
	s.meet(object.Ref{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1"}, s.name+"-n1")
	s.meet(j, "j")
	made := podsOf(t, space, s.uids["j"], 1)[0]
	run(t, "/api/v1/namespaces/"+space+"/pods/"+made.Name, s.name+"-n1")
	s.called[at(pod("p", ""))] = made.Name
	s.meet(pod("p", "p"), made.Name)
	s.sees("ADDED batch/v1 Job shop/j uid=j finished=false")
	s.sees("ADDED v1 Pod shop/p uid=p owners=[j!^] fin=[batch.kubernetes.io/job-tracking] node=n1 phase=Running period=30")
	return s
}

// A running Job that is deleted in the background goes at once; its pods wait until
// the Job controller lets go of them.
//
// Shows: S238
func TestRunningJob(t *testing.T) {
	beside(t)
	s := job(t, ofControllers+"s238_running_job.txt")
	s.do("delete j policy=Background")
	s.stays("DELETED batch/v1 Job shop/j finished=false")
	s.sees("MODIFIED v1 Pod shop/p owners=[j!^] deleting=+30 grace=30 node=n1 phase=Running period=30")
	s.kubelet("v1", "Pod", "shop/p")
	s.rest(1)
}

// Shows: S239
func TestRunningJobInTheForeground(t *testing.T) {
	beside(t)
	s := job(t, ofControllers+"s239_running_job_in_the_foreground.txt")
	s.do("delete j policy=Foreground")
	s.sees("MODIFIED v1 Pod shop/p owners=[j!^] deleting=+30 grace=30 node=n1 phase=Running period=30")
	s.stays("MODIFIED batch/v1 Job shop/j deleting grace=0 fin=[foregroundDeletion] finished=false")
	s.kubelet("v1", "Pod", "shop/p")
	s.rest(1)
}

// A StatefulSet that deletes its claims: they refer to it, are collected with the
// pods, and wait for them.
//
// Shows: S236
func TestClaimsDeleted(t *testing.T) {
	beside(t)
	s := begin(t, ofControllers+"s236_claims_deleted.txt")
	s.namespace("shop")
	post(t, "/api/v1/nodes", `{"metadata":{"name":"s236-n1"}}`)
	post(t, "/apis/apps/v1/namespaces/s236-shop/statefulsets", `{"metadata":{"name":"db"},"spec":{"replicas":1,"serviceName":"db",`+
		`"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Retain"},"selector":{"matchLabels":{"app":"db"}},`+
		`"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"i"}]}},`+
		`"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"none","resources":{"requests":{"storage":"1Gi"}}}}]}}`)
	s.meet(object.Ref{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1"}, "s236-n1")
	s.meet(object.Ref{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "db", UID: "set"}, "db")
	podsOf(t, "s236-shop", s.uids["set"], 1)
	run(t, "/api/v1/namespaces/s236-shop/pods/db-0", "s236-n1")
	s.meet(pod("db-0", "db-0"), "db-0")
	s.meet(object.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data-db-0", UID: "data-db-0"}, "data-db-0")
	s.sees("ADDED v1 Pod shop/db-0 uid=db-0 owners=[set!^] node=n1 phase=Running period=30 claims=[data-db-0]")
	s.sees("ADDED v1 PersistentVolumeClaim shop/data-db-0 uid=data-db-0 owners=[set!^] fin=[kubernetes.io/pvc-protection]")
	s.do("delete set policy=Background")
	s.sees("MODIFIED v1 PersistentVolumeClaim shop/data-db-0 owners=[set!^] deleting grace=0 fin=[kubernetes.io/pvc-protection]")
	s.sees("MODIFIED v1 Pod shop/db-0 owners=[set!^] deleting=+30 grace=30 node=n1 phase=Running period=30 claims=[data-db-0]")
	fence(t)
	s.stays("MODIFIED v1 PersistentVolumeClaim shop/data-db-0 owners=[set!^] deleting grace=0 fin=[kubernetes.io/pvc-protection]")
	s.kubelet("v1", "Pod", "shop/db-0")
	s.rest(1)
}

// A ReplicaSet of a living Deployment goes with its pods and is created anew.
//
// Shows: S242
func TestReplicaSetOfADeployment(t *testing.T) {
	beside(t)
	const apps = "/apis/apps/v1/namespaces/s242/"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s242"}}`)
	post(t, apps+"deployments", `{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"d"}},`+
		`"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	t.Cleanup(func() { remove(t, apps+"deployments/d", `{"propagationPolicy":"Foreground"}`) })
	var old appsv1.ReplicaSet
	await(t, func() string {
		sets := read[appsv1.ReplicaSetList](t, apps+"replicasets").Items
		if len(sets) != 1 {
			return fmt.Sprintf("%d ReplicaSets", len(sets))
		}
		old = sets[0]
		return ""
	})
	pods := podsOf(t, "s242", old.UID, 2)
	remove(t, apps+"replicasets/"+old.Name, `{"propagationPolicy":"Background"}`)
	var anew appsv1.ReplicaSet
	await(t, func() string {
		sets := read[appsv1.ReplicaSetList](t, apps+"replicasets").Items
		if len(sets) != 1 || sets[0].UID == old.UID {
			return fmt.Sprintf("%d ReplicaSets, %s among them before", len(sets), old.UID)
		}
		anew = sets[0]
		return ""
	})
	if anew.Name != old.Name {
		t.Errorf("the new one is called %s, not %s", anew.Name, old.Name)
	}
	podsOf(t, "s242", anew.UID, 2)
	for _, p := range pods {
		awaitGone(t, "/api/v1/namespaces/s242/pods/"+p.Name)
	}
}

// The pods of a ReplicaSet that is deleted without them are adopted by another one
// that selects them.
//
// Shows: S243
func TestPodsAreAdopted(t *testing.T) {
	beside(t)
	const apps = "/apis/apps/v1/namespaces/s243/replicasets"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s243"}}`)
	set := func(name string) types.UID {
		post(t, apps, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"a"}},`+
			`"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name))
		return uidOf(t, apps+"/"+name)
	}
	pods := podsOf(t, "s243", set("first"), 2)
	// Who is not known to depend is not orphaned.
	fenceOf(t, "pods", `,"spec":{"containers":[{"name":"c","image":"i"}]}`)
	remove(t, apps+"/first", `{"propagationPolicy":"Orphan"}`)
	awaitGone(t, apps+"/first")
	for _, p := range pods {
		if refs := read[corev1.Pod](t, "/api/v1/namespaces/s243/pods/"+p.Name).OwnerReferences; len(refs) != 0 {
			t.Errorf("%s has an owner: %v", p.Name, refs)
		}
	}
	second := set("second")
	t.Cleanup(func() { remove(t, apps+"/second", `{"propagationPolicy":"Foreground"}`) })
	for _, p := range podsOf(t, "s243", second, 2) {
		if p.UID != pods[0].UID && p.UID != pods[1].UID {
			t.Errorf("%s was created, not adopted", p.Name)
		}
	}
}

// Nobody stops the containers of a pod whose node has gone: the pod collector says
// that it failed and deletes it without grace. It looks every 20 seconds, and the node
// has to be away for 40.
//
// Shows: S063
func TestNodeHasGone(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofControllers+"s063_node_has_gone.txt")
	s.cluster(1)
	beside(t)
	s.kubelet("here")
	s.sees("DELETED v1 Pod shop/here deleting grace=0 node=n1 phase=Running period=30")
	s.restsAs(s.nth("state", 1).outcome)
}

// A deleted node takes its lease and its CSINode along at once, its mirror pods
// with grace; the pod collector removes those, and all other pods of the node.
//
// Shows: S064
func TestNodeDeleted(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofControllers+"s064_node_deleted.txt")
	s.cluster(1)
	fence(t)
	s.do("delete n2")
	s.sees("DELETED coordination.k8s.io/v1 Lease kube-node-lease/n2 owners=[n2]")
	s.sees("DELETED storage.k8s.io/v1 CSINode n2 owners=[n2]")
	s.sees("MODIFIED v1 Pod kube-system/static owners=[n2^] deleting=+30 grace=30 node=n2 phase=Running period=30 mirror")
	fence(t)
	s.stays("ADDED v1 Pod shop/p uid=p node=n2 phase=Running period=30")
	beside(t)
	s.restsAs(s.nth("state", 1).outcome)
}

// When a claim goes its volume is released, and what then becomes of it, its reclaim
// policy says. With Retain it stays, and so it does with Delete, until the driver that
// provisioned it has deleted the storage and then the volume; where no driver can, it
// is there forever.
//
// Shows: S234
func TestReclaimedVolumes(t *testing.T) {
	beside(t)
	const volumes, claims = "/api/v1/persistentvolumes", "/api/v1/namespaces/s234/persistentvolumeclaims"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s234"}}`)
	phase := func(name string) corev1.PersistentVolumePhase {
		return read[corev1.PersistentVolume](t, volumes+"/s234-"+name).Status.Phase
	}
	const driver, csi = `"pv.kubernetes.io/provisioned-by":"csi.example.com"`, `"csi":{"driver":"csi.example.com","volumeHandle":"x"}`
	type kind struct{ name, policy, annotations, source, ends string }
	kinds := []kind{
		{"retained", "Retain", driver, csi, "Released"},
		{"deleted", "Delete", driver, csi, "Released"},
		{"migrated", "Delete", `"pv.kubernetes.io/provisioned-by":"kubernetes.io/aws-ebs","pv.kubernetes.io/migrated-to":"csi.example.com"`, csi, "Released"},
		{"unprovisioned", "Delete", "", csi, "Released"},
		{"outdated", "Delete", `"pv.kubernetes.io/provisioned-by":"kubernetes.io/gone"`, `"nfs":{"server":"s","path":"/x"}`, "Failed"},
		{"unable", "Delete", "", `"nfs":{"server":"s","path":"/x"}`, "Failed"},
	}
	for _, k := range kinds {
		post(t, volumes, fmt.Sprintf(`{"metadata":{"name":"s234-%s","annotations":{%s}},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],`+
			`"persistentVolumeReclaimPolicy":%q,"storageClassName":"s234",%s,"claimRef":{"namespace":"s234","name":%[1]q}}}`, k.name, k.annotations, k.policy, k.source))
		post(t, claims, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"s234","volumeName":"s234-%[1]s","resources":{"requests":{"storage":"1Gi"}}}}`, k.name))
		await(t, func() string {
			if p := phase(k.name); p != corev1.VolumeBound {
				return k.name + " is " + string(p)
			}
			return ""
		})
		remove(t, claims+"/"+k.name, "")
		awaitGone(t, claims+"/"+k.name)
		await(t, func() string {
			if p := phase(k.name); string(p) != k.ends {
				return k.name + " is " + string(p) + ", not " + k.ends
			}
			return ""
		})
	}
	fence(t)
	for _, k := range kinds {
		v := read[corev1.PersistentVolume](t, volumes+"/s234-"+k.name)
		if string(v.Status.Phase) != k.ends || v.DeletionTimestamp != nil {
			t.Errorf("%s is %s, and its deletion timestamp %v", k.name, v.Status.Phase, v.DeletionTimestamp)
		}
	}
	// What the driver does when the storage is gone.
	remove(t, volumes+"/s234-deleted", "")
	awaitGone(t, volumes+"/s234-deleted")
}

package realcluster

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

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

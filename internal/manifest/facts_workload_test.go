package manifest

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// whoUses is a list of objects that protect claims, volumes and pods.
const whoUses = `{"kind":"List","apiVersion":"v1","items":[
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"db-0"},"spec":{"nodeName":"n1","containers":[{"name":"c"}],"volumes":[
 {"name":"data","persistentVolumeClaim":{"claimName":"data-db-0","readOnly":true}},
 {"emptyDir":{},"name":"tmp"},{"configMap":{"name":"persistentVolumeClaim"},"name":"conf"},
 {"name":"none","persistentVolumeClaim":null,"ephemeral":null},
 {"ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"fast"}}},"name":"scratch"}]}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","volumeMounts":[{"name":"x"}]},{"name":"d"}]}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"volumes":null}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"part"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}},
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"done"},"spec":{"managedBy":"example.com/x","ttlSecondsAfterFinished":300},
 "status":{"conditions":[{"lastTransitionTime":"2026-01-01T00:59:00Z","type":"SuccessCriteriaMet","status":"True"},{"lastTransitionTime":"2026-01-01T01:00:00Z","type":"Complete","status":"True"},{"type":"Failed","status":"False"}]}},
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"failed"},"spec":{"backoffLimit":1},"status":{"failed":1,"conditions":[{"type":"Failed","status":"True"}]}},
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"unseen"},"status":{"conditions":[]}},
{"apiVersion":"example.com/v1","kind":"Job","metadata":{"name":"other"},"spec":{"managedBy":{}}},
{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"shop","name":"data-db-0","uid":"u-c"}},"status":{"phase":"Bound"}},
{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"fast","annotations":{"pv.kubernetes.io/provisioned-by":"csi.example.com","pv.kubernetes.io/migrated-to":"other.example.com"}},"spec":{"persistentVolumeReclaimPolicy":"Delete","csi":{"driver":"csi.example.com"}},"status":{"phase":"Released"}},
{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"rc"},"spec":{"devices":{}},"status":{"allocation":{"devices":{}},"reservedFor":[{"resource":"pods","name":"p","uid":"u-p"},{"apiGroup":"x.io","resource":"gadgets","name":"g","uid":"u-g"}]}},
{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"new"},"spec":{"devices":{}},"status":{}},
{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"part"},"spec":{"devices":{}}},
{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"two"},"spec":{"cidrs":["10.0.0.0/24","fd00::/112"]},"status":{"conditions":[{"type":"Ready"}]}},
{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"part"},"status":{}},
{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":"10.0.0.7"},"spec":{"parentRef":{"group":"","resource":"services","namespace":"shop","name":"web"}}},
{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":"10.0.0.8"}},
{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-7f","annotations":{"deployment.kubernetes.io/revision":"3"}},"spec":{"replicas":1}},
{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"odd","annotations":{"deployment.kubernetes.io/revision":"third"}}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"ci-token","annotations":{"kubernetes.io/service-account.name":"ci","kubernetes.io/service-account.uid":"u-ci"}},"data":{"token":"eA=="},"type":"kubernetes.io/service-account-token"},
{"type":"kubernetes.io/service-account-token","apiVersion":"v1","kind":"Secret","metadata":{"name":"any-uid","annotations":{"kubernetes.io/service-account.name":"ci"}}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"pull","annotations":{"kubernetes.io/service-account.name":"ci","kubernetes.io/service-account.uid":"u-ci"}},"type":"kubernetes.io/dockercfg"},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"part","annotations":{"kubernetes.io/service-account.name":"ci","kubernetes.io/service-account.uid":"u-ci"}}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"nobody"},"type":"kubernetes.io/service-account-token"},
{"apiVersion":"example.com/v1","kind":"Secret","metadata":{"name":"other","annotations":{"kubernetes.io/service-account.name":"ci"}},"type":{"a":[1]}},
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain","whenDeleted":"Delete"},"template":{"metadata":{"name":"x"}},"volumeClaimTemplates":[{"kind":"PersistentVolumeClaim","metadata":{"creationTimestamp":null,"name":"data"},"spec":{}},{"spec":{},"metadata":{"name":"log"}}]}},
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"part"}},
{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"free"},"spec":{"capacity":{}}}
]}`

// TestWhatProtects: the claims of pods, the managers and final conditions of Jobs and the claims of
// volumes are read from JSON and from YAML in any order of the fields. Fields that a dump lacks are
// unknown.
func TestWhatProtects(t *testing.T) {
	want := []string{
		"v1 Pod db-0 uid= pod={n1  mirror=false volumes=[{data-db-0 false} {db-0-scratch true}]} in list",
		"v1 Pod a uid= pod={  mirror=false volumes=[]} in list",
		"v1 Pod b uid= pod={  mirror=false volumes=[]} in list",
		"v1 Pod part uid= pod={n1 Running mirror=false} in list",
		"batch/v1 Job done uid= job={Finished:true FinishedAt:1767229200 TTL:300 ManagedBy:example.com/x NoRetry:false} in list",
		"batch/v1 Job failed uid= job={Finished:true FinishedAt:0 TTL:- ManagedBy: NoRetry:true} in list",
		"batch/v1 Job unseen uid= in list",
		"example.com/v1 Job other uid= in list",
		"v1 PersistentVolume pv uid= volume={Phase:Bound ClaimNamespace:shop ClaimName:data-db-0 ClaimUID:u-c ReclaimPolicy: Provisioner: MigratedTo: CSI:false} in list",
		"v1 PersistentVolume fast uid= volume={Phase:Released ClaimNamespace: ClaimName: ClaimUID: ReclaimPolicy:Delete Provisioner:csi.example.com MigratedTo:other.example.com CSI:true} in list",
		"resource.k8s.io/v1 ResourceClaim rc uid= reserved=[{ pods p u-p} {x.io gadgets g u-g}] in list",
		"resource.k8s.io/v1 ResourceClaim new uid= reserved=[] in list",
		"resource.k8s.io/v1 ResourceClaim part uid= in list",
		"networking.k8s.io/v1 ServiceCIDR two uid= cidrs=[10.0.0.0/24 fd00::/112] in list",
		"networking.k8s.io/v1 ServiceCIDR part uid= in list",
		"networking.k8s.io/v1 IPAddress 10.0.0.7 uid= parent={Group: Resource:services Namespace:shop Name:web} in list",
		"networking.k8s.io/v1 IPAddress 10.0.0.8 uid= in list",
		"apps/v1 ReplicaSet web-7f uid= revision=3 in list",
		"apps/v1 ReplicaSet odd uid= in list",
		"v1 Secret ci-token uid= token={Account:ci AccountUID:u-ci Sure:true} in list",
		"v1 Secret any-uid uid= token={Account:ci AccountUID: Sure:true} in list",
		"v1 Secret pull uid= in list",
		"v1 Secret part uid= token={Account:ci AccountUID:u-ci Sure:false} in list",
		"v1 Secret nobody uid= in list",
		"example.com/v1 Secret other uid= in list",
		"apps/v1 StatefulSet db uid= templates=[data log] deletes=true in list",
		"apps/v1 StatefulSet part uid= in list",
		"v1 PersistentVolume free uid= volume={Phase: ClaimNamespace: ClaimName: ClaimUID: ReclaimPolicy: Provisioner: MigratedTo: CSI:false} in list",
		`list "v1" "List" 28 partial=false`,
	}
	wantLines(t, whoUses, Options{}, want...)
	text, err := yaml.JSONToYAML([]byte(whoUses))
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, string(text), Options{}, want...)
	wantLines(t, `{"spec":{"volumes":[{"ephemeral":{},"name":"v"}]},"metadata":{"name":"a"},"kind":"Pod","apiVersion":"v1"}`, Options{},
		"v1 Pod a uid= pod={  mirror=false volumes=[{a-v true}]}")
}

// TestFlattenedClaims: a dump with Go field names has claims, too.
func TestFlattenedClaims(t *testing.T) {
	text := strings.Replace(fixture(t, "flattened.json"), `"Name": "x"`,
		`"Name": "d", "EmptyDir": null, "PersistentVolumeClaim": {"ClaimName": "dns"}, "Ephemeral": null`, 1)
	f, err := find(text, Options{APIVersion: "v1", Kind: "Pod"})
	if err != nil || !strings.Contains(f.lines()[0], "volumes=[{dns false}]") {
		t.Errorf("%v, %v", f.lines(), err)
	}
}

// TestClaimsAreNotShared: pods with equal facts share them unless they have claims.
func TestClaimsAreNotShared(t *testing.T) {
	pod := func(name, claim string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{"volumes":[{"name":"v","` + claim + `":{"claimName":"c"}}]}}`
	}
	f := &found{}
	text := `[` + strings.Join([]string{pod("a", "secret"), pod("b", "secret"), pod("c", "persistentVolumeClaim"), pod("d", "ephemeral")}, ",") + `]`
	if err := Read(bytes.NewReader([]byte(text)), Options{}, f.handler()); err != nil {
		t.Fatal(err)
	}
	o := f.Objects
	if o[0].Lifecycle != o[1].Lifecycle || o[1].Lifecycle == o[2].Lifecycle {
		t.Error("facts are shared where they should not be, or not where they should")
	}
	if c := o[3].Pod().Claims; len(c) != 1 || c[0].Name != "d-v" || !c[0].Ephemeral {
		t.Errorf("claims %v", c)
	}
}

func TestProtectionFaults(t *testing.T) {
	pod := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{` + spec + `}}`
	}
	volume := func(spec string) string {
		return `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"a"},"spec":{` + spec + `}}`
	}
	for input, want := range map[string]string{
		pod(`"volumes":{}`):                                                           "spec.volumes is a mapping; it must be a list",
		pod(`"volumes":[1]`):                                                          "an entry of spec.volumes is a number; it must be a mapping",
		pod(`"volumes":[],"volumes":[]`):                                              "spec.volumes is there twice",
		pod(`"volumes":[{"name":1}]`):                                                 "spec.volumes.name is a number; it must be a string",
		pod(`"volumes":[{"name":"a","name":"b"}]`):                                    "an entry of spec.volumes has name twice",
		pod(`"volumes":[{"persistentVolumeClaim":"x"}]`):                              "spec.volumes.persistentVolumeClaim is a string; it must be a mapping",
		pod(`"volumes":[{"persistentVolumeClaim":{"claimName":[]}}]`):                 "spec.volumes.persistentVolumeClaim.claimName is a list; it must be a string",
		pod(`"volumes":[{"persistentVolumeClaim":{"claimName":"a","claimName":""}}]`): "spec.volumes.persistentVolumeClaim has claimName twice",
		`{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":"a"},"spec":{"parentRef":{},"parentRef":{}}}`:       "spec.parentRef is there twice",
		`{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":"a"},"spec":{"parentRef":{"name":"a","name":"b"}}}`: "spec.parentRef.name is there twice",
		volume(`"csi":{},"csi":{}`):                  "spec.csi is there twice",
		volume(`"persistentVolumeReclaimPolicy":{}`): "spec.persistentVolumeReclaimPolicy is a mapping; it must be a string",
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a"},"status":{"reservedFor":{}}}`:                        "status.reservedFor is a mapping; it must be a list",
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a"},"status":{"reservedFor":[1]}}`:                       "an entry of status.reservedFor is a number; it must be a mapping",
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a"},"status":{"reservedFor":[],"reservedFor":[]}}`:       "status.reservedFor is there twice",
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a"},"status":{"reservedFor":[{"uid":"a","uid":"b"}]}}`:   "status.reservedFor.uid is there twice",
		`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"a"},"spec":{"cidrs":[7]}}`:                               "an entry of spec.cidrs is a number; it must be a string",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"volumeClaimTemplates":[7]}}`:                             "an entry of spec.volumeClaimTemplates is a number; it must be a mapping",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"volumeClaimTemplates":[{"metadata":{},"metadata":{}}]}}`: "an entry of spec.volumeClaimTemplates has metadata twice",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"volumeClaimTemplates":[],"volumeClaimTemplates":[]}}`:    "spec.volumeClaimTemplates is there twice",
		volume(`"claimRef":{},"claimRef":{}`):        "spec.claimRef is there twice",
		volume(`"claimRef":{"name":"a","name":"b"}`): "spec.claimRef.name is there twice",
		volume(`"claimRef":{"uid":7}`):               "spec.claimRef.uid is a number; it must be a string",
	} {
		if _, err := find(input, Options{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n\tgot %v\n\twant %s", input, err, want)
		}
	}
}

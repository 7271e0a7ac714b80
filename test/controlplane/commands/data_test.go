package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planned is the plan of a delete of a namespace.
func (s *stage) planned(namespace string) *report.Plan {
	s.t.Helper()
	a := s.gc(s.ctx, "dry-run", "delete", "namespace/"+namespace, "-o", "json")
	a.want(s.t, 0)
	p := &report.Plan{}
	if err := json.Unmarshal([]byte(a.stdout), p); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// TestStorageOfNamespace: the volumes behind the claims of a namespace are found in
// the cluster, each with its reclaim policy.
func TestStorageOfNamespace(t *testing.T) {
	s := enter(t)
	want := map[string]string{}
	for policy, fate := range map[string]report.Outcome{"Delete": report.Deleted, "Retain": report.Kept} {
		claim, volume := "data-"+strings.ToLower(policy), s.namespace+"-"+strings.ToLower(policy)
		spec := body{"accessModes": []string{"ReadWriteOnce"}, "storageClassName": ""}
		spec["volumeName"], spec["resources"] = volume, body{"requests": body{"storage": "1Gi"}}
		uid := s.post("/api/v1/namespaces/"+s.namespace+"/persistentvolumeclaims", body{"metadata": body{"name": claim}, "spec": spec})
		s.post("/api/v1/persistentvolumes", body{"metadata": body{
			"name": volume, "annotations": body{"pv.kubernetes.io/provisioned-by": "csi.example.com"},
		}, "spec": body{
			"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "", "capacity": body{"storage": "1Gi"},
			"persistentVolumeReclaimPolicy": policy, "csi": body{"driver": "csi.example.com", "volumeHandle": volume},
			"claimRef": body{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": s.namespace, "name": claim, "uid": uid},
		}})
		want[claim] = volume + " " + policy + " " + string(fate)
		defer func() {
			s.kubectl(nil, "delete", "pv", volume, "--wait=false")
			s.kubectl(nil, "patch", "pv", volume, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}()
	}
	s.post("/api/v1/namespaces/"+s.namespace+"/secrets", body{"metadata": body{"name": "key"}})

	p := s.planned(s.namespace)
	got := map[string]string{}
	for _, x := range p.Storage {
		got[x.Claim.Name] = x.Volume.Name + " " + x.ReclaimPolicy + " " + string(x.Outcome)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data := map[report.Data]int{}
	for _, c := range p.Summary.ByKind {
		data[c.Data] += c.Count
	}
	if data[report.VolumeData] != 2 || data[report.SecretData] != 1 {
		t.Errorf("counted: %v", p.Summary.ByKind)
	}
	s.gc(s.ctx, "dry-run", "delete", "namespace/"+s.namespace).want(t, 0, "DATA ", "data stays")
}

// TestImmortalNamespaces: of a namespace that the server refuses to delete nothing is
// said to go, and the server does refuse.
func TestImmortalNamespaces(t *testing.T) {
	s := enter(t)
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		p := s.planned(name)
		for _, e := range p.Effects {
			if !e.AlreadyHappening && e.Outcome != report.Kept {
				t.Errorf("%s: %s %s is %s", name, e.Object.Kind, e.Object.Name, e.Outcome)
			}
		}
		if !p.Complete {
			t.Errorf("%s: that nothing goes rests on gaps: %v", name, p.Gaps)
		}
		if _, err := plane.Kubectl(s.ctx, nil, "delete", "namespace", name, "--wait=false"); err == nil || !strings.Contains(err.Error(), "may not be deleted") {
			t.Errorf("%s: the server does not refuse: %v", name, err)
		}
	}
}

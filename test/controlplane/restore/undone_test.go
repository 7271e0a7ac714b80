// Package restore shows that a real API server takes what an undo sends: the
// kinds of which something has to be left out are saved from one, deleted, and
// made again from the backup.
package restore

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// world is made at first. UID(name) stands for the UID of what was made before.
const world = `[
{"path":"/api/v1/namespaces/shop/serviceaccounts","object":{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"runner"}}},
{"path":"/apis/scheduling.k8s.io/v1/priorityclasses","object":{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}},
{"path":"/api/v1/namespaces/shop/secrets","object":{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token",
 "metadata":{"name":"token","annotations":{"kubernetes.io/service-account.name":"runner","kubernetes.io/service-account.uid":"UID(runner)"}},"data":{"token":"dA=="}}},
{"path":"/apis/apps/v1/namespaces/shop/deployments","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
 "spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}},
{"path":"/apis/apps/v1/namespaces/shop/replicasets","object":{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"a-web-1","ownerReferences":[
 {"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"UID(web)","controller":true,"blockOwnerDeletion":true}]},
 "spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}},
{"path":"/api/v1/namespaces/shop/services","object":{"apiVersion":"v1","kind":"Service","metadata":{"name":"lb"},
 "spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}],"selector":{"app":"web"}}}},
{"path":"/api/v1/namespaces/shop/services","object":{"apiVersion":"v1","kind":"Service","metadata":{"name":"headless"},"spec":{"clusterIP":"None","ports":[{"port":80}]}}},
{"path":"/api/v1/namespaces/shop/services","object":{"apiVersion":"v1","kind":"Service","metadata":{"name":"elsewhere"},"spec":{"type":"ExternalName","externalName":"example.com"}}},
{"path":"/api/v1/persistentvolumes","object":{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"disk"},
 "spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"},"claimRef":{"namespace":"shop","name":"claim","uid":"00000000-0000-0000-0000-000000000001"}}}},
{"path":"/api/v1/namespaces/shop/persistentvolumeclaims","object":{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"claim","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},
 "spec":{"volumeName":"disk","storageClassName":"","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}},
{"path":"/apis/batch/v1/namespaces/shop/jobs","object":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"work"},
 "spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}},
{"path":"/api/v1/namespaces/shop/pods","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},
 "spec":{"nodeName":"n1","serviceAccountName":"runner","priorityClassName":"high","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}},
{"path":"/apis/apiextensions.k8s.io/v1/customresourcedefinitions","object":{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"carts.example.com"},
 "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"carts","singular":"cart","kind":"Cart","listKind":"CartList"},
 "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}}
]`

type entry struct {
	Path   string
	Object json.RawMessage
}

type stage struct {
	*testing.T
	*cluster.Cluster
	// collections are the paths of collections by kind and name.
	collections map[string]string
}

func start(t *testing.T) *stage {
	t.Helper()
	c, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &stage{t, c, map[string]string{}}
}

func (s *stage) must(method, path, body string) []byte {
	s.Helper()
	answer, err := s.Do(s.Context(), method, path, "application/json", []byte(body))
	if err != nil {
		s.Fatalf("%v\n%s", err, body)
	}
	return answer
}

func (s *stage) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) path(r object.Ref) string {
	return s.collections[r.Kind+" "+r.Name] + "/" + r.Name
}

// read is what an answer says of an object.
func (s *stage) read(raw []byte) *object.Object {
	s.Helper()
	var o metav1.PartialObjectMetadata
	s.check(json.Unmarshal(raw, &o))
	read := &object.Object{
		Ref:             object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
		ResourceVersion: o.ResourceVersion,
	}
	for _, r := range o.OwnerReferences {
		read.Owners = append(read.Owners, object.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
			Controller: object.FlagOf(r.Controller), BlockOwnerDeletion: object.FlagOf(r.BlockOwnerDeletion)})
	}
	return read
}

// lookup is what the server has.
func (s *stage) lookup(r object.Ref) (*object.Object, error) {
	raw, err := s.Do(s.Context(), http.MethodGet, s.path(r), "", nil)
	switch {
	case cluster.Code(err) == http.StatusNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return s.read(raw), nil
	}
}

// fill makes the world and returns it as the server has it.
func (s *stage) fill() (all [][]byte) {
	s.Helper()
	s.must(http.MethodPost, "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`)
	var entries []entry
	s.check(json.Unmarshal([]byte(world), &entries))
	var uids []string // pairs of a name in the text and a UID
	for _, e := range entries {
		made := s.read(s.must(http.MethodPost, e.Path, strings.NewReplacer(uids...).Replace(string(e.Object))))
		uids = append(uids, "UID("+made.Name+")", string(made.UID))
		s.collections[made.Kind+" "+made.Name] = e.Path
		all = append(all, s.must(http.MethodGet, s.path(made.Ref), ""))
	}
	return all
}

// remove deletes objects, and takes off the finalizers for which nobody is there.
func (s *stage) remove(r object.Ref) {
	s.Helper()
	s.must(http.MethodDelete, s.path(r), `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)
	_, err := s.Do(s.Context(), http.MethodPatch, s.path(r), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err != nil && cluster.Code(err) != http.StatusNotFound {
		s.Fatal(err)
	}
	cluster.Until(s.T, r.String()+" is gone", func() bool {
		there, err := s.lookup(r)
		s.check(err)
		return there == nil
	})
}

// backup keeps the objects in a bundle, deletes them, and returns what the bundle
// then has.
func (s *stage) backup(all [][]byte) []undo.Saved {
	s.Helper()
	now := time.Now()
	w, err := backup.Create(filepath.Join(s.TempDir(), "bundles"), backup.Head{
		Tool: "test", Command: "delete", PlanDigest: "sha256:" + strings.Repeat("0", 64), Created: now, Secrets: true,
	})
	s.check(err)
	for _, raw := range all {
		_, err := w.Add(s.read(raw).Ref, backup.Deleted, raw)
		s.check(err)
	}
	s.check(w.Seal())
	for _, raw := range all {
		ref := s.read(raw).Ref
		n, err := w.Intent(backup.Intent{Time: now, Object: ref, Verb: "DELETE"})
		s.check(err)
		s.remove(ref)
		s.check(w.Result(n, backup.Result{Time: now, Outcome: backup.Confirmed, Code: http.StatusOK}))
	}
	s.check(w.Close(now))
	b, err := backup.Open(w.Path(), nil)
	s.check(err)
	var saved []undo.Saved
	for i := range b.Entries {
		raw, err := b.Raw(&b.Entries[i])
		s.check(err)
		saved = append(saved, undo.Saved{Object: b.Entries[i].Object, Raw: raw})
	}
	s.check(b.Close())
	return saved
}

// Every kind of which something has to be left out is taken back by the server,
// under new UIDs, and the references follow them. A server adds nothing of its own.
func TestEverythingComesBack(t *testing.T) {
	s := start(t)
	all := s.fill()
	plan := undo.Resume(s.backup(all), undo.Cluster{Lookup: s.lookup}, nil)
	if len(plan.Steps) != len(all) || len(plan.Skipped) != 0 {
		t.Errorf("%d steps for %d objects; skipped %+v", len(plan.Steps), len(all), plan.Skipped)
	}
	var m undo.Mapping
	made := map[string]*object.Object{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		body, dropped, err := step.Body(&m)
		s.check(err)
		if len(dropped)+len(step.Dropped) != 0 {
			t.Errorf("%s: dropped %v %v", step.Object, step.Dropped, dropped)
		}
		answer := s.must(http.MethodPost, s.collections[step.Object.Kind+" "+step.Object.Name], string(body))
		differs, err := step.Differs(answer)
		s.check(err)
		if len(differs) > 0 {
			t.Errorf("%s: the server makes it with %+v", step.Object, differs)
		}
		o := s.read(answer)
		if o.UID == step.Object.UID || o.Name != step.Object.Name {
			t.Errorf("%s came back as %s with UID %s", step.Object, o.Ref, o.UID)
		}
		m.Made(step, o.UID)
		made[o.Name] = o
		t.Logf("%s: without %v, notes %v", step.Object, step.Stripped, step.Notes)
	}
	if owners := made["a-web-1"].Owners; len(owners) != 1 || owners[0].UID != made["web"].UID {
		t.Errorf("the ReplicaSet refers to %+v, the Deployment is %s", owners, made["web"].UID)
	}
	again := undo.Resume([]undo.Saved{{Object: plan.Steps[0].Object}}, undo.Cluster{Lookup: s.lookup}, nil)
	if len(again.Skipped) != 1 || again.Skipped[0].Reason != reason.TakenByAnother {
		t.Errorf("a second undo would do %+v", again)
	}
}

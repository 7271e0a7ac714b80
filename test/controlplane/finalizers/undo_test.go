package finalizers

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func template() body {
	return body{"metadata": body{"labels": body{"app": "web"}}, "spec": body{"containers": []body{{"name": "c", "image": "i"}}}}
}

func ownedBy(apiVersion, kind, name, uid string) []body {
	return []body{{"apiVersion": apiVersion, "kind": kind, "name": name, "uid": uid, "controller": true, "blockOwnerDeletion": true}}
}

// shop makes a Deployment with a ReplicaSet and two ConfigMaps below it.
func (s *stage) shop() {
	s.Helper()
	spec := body{"selector": body{"matchLabels": body{"app": "web"}}, "template": template()}
	web := s.post(s.apps("deployments"), body{"metadata": body{"name": "web"}, "spec": spec})
	set := s.post(s.apps("replicasets"), body{"metadata": body{"name": "web-1", "ownerReferences": ownedBy("apps/v1", "Deployment", "web", web)}, "spec": spec})
	s.post(s.in("configmaps"), body{"metadata": body{"name": "of-web", "ownerReferences": ownedBy("apps/v1", "Deployment", "web", web)}, "data": body{"big": "9007199254740993"}})
	s.post(s.in("configmaps"), body{"metadata": body{"name": "of-set", "ownerReferences": ownedBy("apps/v1", "ReplicaSet", "web-1", set)}})
}

func (s *stage) apps(kind string) string {
	return "/apis/apps/v1/namespaces/" + s.namespace + "/" + kind
}

// paths are the objects of the shop, owners first.
func (s *stage) paths() []string {
	return []string{s.apps("deployments/web"), s.apps("replicasets/web-1"), s.in("configmaps/of-web"), s.in("configmaps/of-set")}
}

// lost deletes the shop and returns its backup.
func (s *stage) lost() string {
	s.Helper()
	s.want(s.confirmed("delete", "deployment/web", "-n", s.namespace), 0)
	for _, path := range s.paths() {
		s.gone(path)
	}
	all := s.bundles()
	return all[len(all)-1]
}

// whole fails unless everything is back, and refers to what is there now.
func (s *stage) whole() {
	s.Helper()
	var all []*metav1.PartialObjectMetadata
	for _, path := range s.paths() {
		o := s.at(path)
		if o == nil {
			s.Fatalf("%s is not back", path)
		}
		all = append(all, o)
	}
	for i, owner := range map[int]int{1: 0, 2: 0, 3: 1} {
		if refs := all[i].OwnerReferences; len(refs) != 1 || refs[0].UID != all[owner].UID {
			s.Errorf("%s refers to %+v, want uid %s", all[i].Name, refs, all[owner].UID)
		}
	}
}

// What a delete took comes back under new uids, and stays: the collector takes none
// of it for garbage. A second undo has nothing to do.
func TestUndoBringsBack(t *testing.T) {
	s := enter(t, collector)
	s.shop()
	bundle := s.lost()
	s.want(s.gc("undo", bundle, "--dry-run"), 0, "4 objects would be restored", "deploy/web")
	s.want(s.gc("undo", bundle), 5, "terminal")
	done := document[report.Undo](t, s.want(s.confirmed("undo", bundle, "-o", "json"), 0))
	if done.State != report.Complete || done.Summary.Made != 4 || done.Summary.Dropped != 0 || !strings.HasPrefix(done.Journal, bundle) {
		t.Errorf("%+v", done)
	}
	s.whole()
	before := s.at(s.apps("deployments/web"))
	again := document[report.Undo](t, s.want(s.gc("undo", bundle, "-o", "json"), 0))
	if len(again.Steps) != 0 || len(again.Skipped) != 4 || again.Skipped[0].Reason != "MadeBefore" {
		t.Errorf("a second undo: %+v", again)
	}
	// A collector that has seen all of it keeps it: one that starts now, and has to
	// get to what was made last.
	fence := s.configMap("fence", nil, "gone", "0")
	s.gone(s.in("configmaps/fence"))
	s.whole()
	if after := s.at(s.apps("deployments/web")); fence == "" || after.ResourceVersion != before.ResourceVersion {
		t.Error("the second undo wrote")
	}
}

// What has come into the place of something is left as it is, though it has another content or
// lacks its owner, and what it owned is not hung onto it.
func TestUndoNeverOverwrites(t *testing.T) {
	s := enter(t, collector)
	s.shop()
	bundle := s.lost()
	other := s.post(s.in("configmaps"), body{"metadata": body{"name": "of-web"}, "data": body{"mine": "yes"}})
	spec := body{"selector": body{"matchLabels": body{"app": "web"}}, "template": template()}
	set := s.post(s.apps("replicasets"), body{"metadata": body{"name": "web-1"}, "spec": spec})
	done := document[report.Undo](t, s.want(s.confirmed("undo", bundle, "-o", "json"), 6))
	if done.Summary.Made != 2 || done.Summary.Skipped != 2 || done.Summary.Differs != 2 || done.Summary.Dropped != 1 {
		t.Errorf("%+v", done.Summary)
	}
	if o := s.at(s.in("configmaps/of-web")); string(o.UID) != other || len(o.OwnerReferences) != 0 {
		t.Errorf("overwritten: %+v", o)
	}
	if o := s.at(s.apps("replicasets/web-1")); string(o.UID) != set || len(o.OwnerReferences) != 0 {
		t.Errorf("overwritten: %+v", o)
	}
	if o := s.at(s.in("configmaps/of-set")); o == nil || len(o.OwnerReferences) != 0 {
		t.Errorf("of-set: %+v, want it without the owner that is another", o)
	}
}

// An undo that is killed at any step goes on there: nothing is made twice, nothing is
// left out, whether or not the last answer came to be written down.
func TestUndoGoesOn(t *testing.T) {
	s := enter(t, collector)
	s.shop()
	bundle := s.lost()
	for step := 1; step <= 4; step++ {
		s.killedAt(bundle, step)
	}
	s.want(s.gc("undo", bundle), 0, "nothing to do")
	s.whole()
}

var errKilled = errors.New("killed")

// killedAt runs an undo that makes one object and then ends without another word. The
// answer to every second one is not written down.
func (s *stage) killedAt(bundle string, step int) {
	s.Helper()
	client, err := plane.Connect(kube.Options{Version: "test", Command: "undo"})
	if err != nil {
		s.Fatal(err)
	}
	defer client.Close()
	id, err := client.Identity(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	u, err := backup.PlanUndo(s.ctx, client, id, bundle, backup.UndoPlanOptions{})
	if err != nil {
		s.Fatal(err)
	}
	if left := len(u.Document().Steps); left != 5-step {
		s.Fatalf("before step %d: %d steps left", step, left)
	}
	_, err = u.Run(s.ctx, backup.UndoOptions{Tool: "test", Now: time.Now, Between: func(n int) error {
		if n > 1 {
			return errKilled
		}
		return nil
	}})
	if len(u.Document().Steps) > 1 && !errors.Is(err, errKilled) {
		s.Fatalf("step %d: %v", step, err)
	}
	if step%2 == 0 {
		s.forgetAnswer(u.Document().Journal)
	}
}

// forgetAnswer takes the last line off a journal that was not ended, as a kill
// between request and record does.
func (s *stage) forgetAnswer(journal string) {
	s.Helper()
	name := journal + "/journal.jsonl"
	text, err := os.ReadFile(name)
	if err != nil {
		s.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	for len(lines) > 0 && !strings.Contains(lines[len(lines)-1], `"kind":"intent"`) {
		lines = lines[:len(lines)-1]
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
		s.Fatal(err)
	}
}

// References that an orphaning took come back, to an owner that is there again.
func TestUndoRestoresReferences(t *testing.T) {
	s := enter(t, collector)
	uid := s.configMap("owner", nil)
	s.configMap("below", nil, "owner", uid)
	s.want(s.confirmed("delete", "configmap/owner", "-n", s.namespace, "--cascade=orphan"), 0)
	s.gone(s.in("configmaps/owner"))
	all := s.bundles()
	done := document[report.Undo](t, s.want(s.confirmed("undo", all[len(all)-1], "-o", "json"), 0))
	if done.Summary.Made != 1 || done.Summary.Restored != 1 {
		t.Errorf("%+v", done.Summary)
	}
	owner, below := s.at(s.in("configmaps/owner")), s.at(s.in("configmaps/below"))
	if owner == nil || len(below.OwnerReferences) != 1 || below.OwnerReferences[0].UID != owner.UID {
		t.Errorf("owner %+v, below %+v", owner, below)
	}
}

// The server tries everything first: when it would refuse something, nothing is made.
// Without that, the rest is, if it is wanted so.
func TestUndoTriesFirst(t *testing.T) {
	s := enter(t, collector)
	s.shop()
	bundle := s.lost()
	s.forbid("of-set")
	s.want(s.confirmed("undo", bundle), 5, "configmaps", "--skip-refused")
	for _, path := range s.paths() {
		if s.at(path) != nil {
			t.Errorf("%s was made", path)
		}
	}
	s.want(s.confirmed("undo", bundle, "--skip-refused"), 6, "3 made, 1 refused")
	if s.at(s.in("configmaps/of-set")) != nil || s.at(s.in("configmaps/of-web")) == nil {
		t.Error("made what is refused, or not the rest")
	}
}

// forbid has the API server refuse to make ConfigMaps of a name in the namespace.
func (s *stage) forbid(name string) {
	s.Helper()
	s.forbidOn("CREATE", name, func() error {
		_, err := plane.Do(s.ctx, http.MethodPost, s.in("configmaps")+"?dryRun=All", "application/json", []byte(`{"metadata":{"name":"`+name+`"}}`))
		return err
	})
}

// forbidOn has it refuse an operation on them, and returns when a trial fails.
func (s *stage) forbidOn(operation, name string, try func() error) {
	s.Helper()
	const group = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	s.post(group+"ies", body{"metadata": body{"name": s.namespace}, "spec": body{
		"matchConstraints": body{
			"namespaceSelector": body{"matchLabels": body{"kubernetes.io/metadata.name": s.namespace}},
			"resourceRules":     []body{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{operation}, "resources": []string{"configmaps"}}},
		},
		"validations": []body{{"expression": "object.metadata.name != '" + name + "'"}},
	}})
	s.post(group+"ybindings", body{"metadata": body{"name": s.namespace}, "spec": body{"policyName": s.namespace, "validationActions": []string{"Deny"}}})
	s.until("the policy is in force", func() bool { return cluster.Code(try()) == http.StatusUnprocessableEntity })
}

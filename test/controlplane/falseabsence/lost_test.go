// Package falseabsence shows, against the collector of Kubernetes itself, the two ways
// in which objects are lost whose owner is alive. Both rest on the same: every 404
// counts as absence, and absence is remembered without end. (spec §3.18)
package falseabsence

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	collector   = "garbage-collector-controller"
)

// A version of a custom resource stops being served. A dependent that refers to
// its owner through that version is deleted, although the owner is there, is not
// being deleted, and can be read through the version that is left.
//
// Covers H2.
func TestVersionNoLongerServed(t *testing.T) {
	s := enter(t, "served")
	s.must(http.MethodPost, definitions, definition(true))
	if err := s.Serves(t.Context(), "example.com", "things", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	s.must(http.MethodPost, "/apis/example.com/v2/things", `{"apiVersion":"example.com/v2","kind":"Thing","metadata":{"name":"owner"}}`)
	owner := s.uid("/apis/example.com/v2/things/owner")
	t.Logf("Thing owner exists, uid %s; v1 and v2 are served, v2 is preferred", owner)

	s.controllers(collector)
	s.fence()
	s.create(s.configMaps(), "before", ref("example.com/v1", "Thing", "owner", owner))
	s.fence()
	if s.code(s.configMaps()+"/before") != http.StatusOK {
		t.Fatal("before: a dependent through v1 was not kept while v1 was served")
	}
	t.Log("before: ConfigMap before refers to it through v1 and is kept")

	s.patch(definitions+"/things.example.com", definition(false))
	s.until("v1 is not served", func() bool { return s.code("/apis/example.com/v1/things/owner") == http.StatusNotFound })
	t.Log("spec.versions[v1].served is false now")
	s.create(s.configMaps(), "lost", ref("example.com/v1", "Thing", "owner", owner))
	s.until("the dependent is gone", func() bool { return s.code(s.configMaps()+"/lost") == http.StatusNotFound })
	s.alive("/apis/example.com/v2/things/owner", owner)
	t.Log("ConfigMap lost refers to it through v1 and was DELETED; the owner is alive")
	if s.code(s.configMaps()+"/before") != http.StatusOK {
		t.Error("ConfigMap before, which nothing made the garbage collector look at, is gone too")
	}
}

// An owner is gone, and comes back with the same UID, as after a restore. The
// collector remembers its absence: a dependent that it has a reason to look at is
// deleted. After a restart of the collector it is not.
//
// Covers H1.
func TestOwnerBackFromABackup(t *testing.T) {
	s := enter(t, "restored")
	s.controllers(collector)
	owner := cluster.Stored{Key: "configmaps/restored/owner", Manifest: []byte(
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner","namespace":"restored","uid":"owner-uid","creationTimestamp":"2026-01-01T00:00:00Z"}}`)}
	restore := func() {
		if err := s.Store([]cluster.Stored{owner}); err != nil {
			t.Fatal(err)
		}
		s.until("the owner is there", func() bool { return s.code(s.configMaps()+"/owner") == http.StatusOK })
		s.fence()
	}
	// lose makes a dependent of the owner and of a Secret, deletes the Secret, and
	// reports whether the dependent is kept.
	lose := func(name string) bool {
		s.create(s.secrets(), name, "")
		second := s.uid(s.secrets() + "/" + name)
		s.create(s.configMaps(), name, ref("v1", "ConfigMap", "owner", "owner-uid")+","+ref("v1", "Secret", name, second))
		s.fence()
		s.must(http.MethodDelete, s.secrets()+"/"+name, `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)
		s.until("the garbage collector has judged the dependent", func() bool {
			text, err := s.Do(t.Context(), http.MethodGet, s.configMaps()+"/"+name, "", nil)
			return cluster.Code(err) == http.StatusNotFound || !strings.Contains(string(text), second)
		})
		return s.code(s.configMaps()+"/"+name) == http.StatusOK
	}

	restore()
	if !lose("before") {
		t.Fatal("before: the dependent of an owner that was never away was deleted")
	}
	t.Log("before: the dependent of a living owner loses another owner and is kept")
	s.create(s.configMaps(), "first", ref("v1", "ConfigMap", "owner", "owner-uid"))
	s.fence()
	s.must(http.MethodDelete, s.configMaps()+"/owner", `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)
	s.until("its dependent is collected", func() bool { return s.code(s.configMaps()+"/first") == http.StatusNotFound })
	restore()
	t.Log("the owner was deleted, its dependents were collected, and it was restored with its uid")
	if lose("lost") {
		t.Error("the dependent was kept: the hazard is gone")
	} else {
		s.alive(s.configMaps()+"/owner", "owner-uid")
		t.Log("a dependent of the restored owner loses another owner and was DELETED; the owner is alive")
	}
	s.controllers(collector)
	s.fence()
	if !lose("after") {
		t.Error("after a restart of the garbage collector the dependent was deleted, too")
	} else {
		t.Log("after a restart of the garbage collector the same is kept")
	}
}

// plane is the control plane of all tests; each starts its collector anew.
var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

// stage is a namespace of one test.
type stage struct {
	*cluster.Cluster
	t         *testing.T
	namespace string
	fences    int
}

func enter(t *testing.T, namespace string) *stage {
	t.Helper()
	s := &stage{Cluster: plane, t: t, namespace: namespace}
	s.must(http.MethodPost, "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, namespace))
	return s
}

func (s *stage) configMaps() string { return "/api/v1/namespaces/" + s.namespace + "/configmaps" }
func (s *stage) secrets() string    { return "/api/v1/namespaces/" + s.namespace + "/secrets" }

func (s *stage) controllers(names ...string) {
	s.t.Helper()
	if err := s.Controllers(names...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) must(method, path, body string) []byte {
	s.t.Helper()
	text, err := s.Do(s.t.Context(), method, path, "application/json", []byte(body))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *stage) patch(path, body string) {
	s.t.Helper()
	if _, err := s.Do(s.t.Context(), http.MethodPatch, path, "application/merge-patch+json", []byte(body)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) code(path string) int {
	s.t.Helper()
	_, err := s.Do(s.t.Context(), http.MethodGet, path, "", nil)
	if code := cluster.Code(err); err == nil || code != 0 {
		return max(code, http.StatusOK)
	}
	s.t.Fatal(err)
	return 0
}

// create makes an object with owner references.
func (s *stage) create(path, name, owners string) {
	s.t.Helper()
	s.must(http.MethodPost, path, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, owners))
}

func ref(apiVersion, kind, name, uid string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`, apiVersion, kind, name, uid)
}

// alive makes sure that an object is there, is the same one, and stays.
func (s *stage) alive(path, uid string) {
	s.t.Helper()
	text := s.must(http.MethodGet, path, "")
	if !strings.Contains(string(text), fmt.Sprintf(`"uid":%q`, uid)) || strings.Contains(string(text), "deletionTimestamp") {
		s.t.Fatalf("the owner is not alive: %s", text)
	}
}

func (s *stage) uid(path string) string {
	s.t.Helper()
	var o struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(s.must(http.MethodGet, path, ""), &o); err != nil {
		s.t.Fatal(err)
	}
	return o.Metadata.UID
}

// fence returns when the collector has begun with everything that was enqueued
// before.
func (s *stage) fence() {
	s.t.Helper()
	s.fences++
	name := fmt.Sprintf("fence-%d", s.fences)
	s.create(s.configMaps(), name, ref("v1", "Secret", name, name))
	s.until("the garbage collector is there", func() bool { return s.code(s.configMaps()+"/"+name) == http.StatusNotFound })
}

func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	cluster.Until(s.t, what, holds)
}

// definition is a kind with two versions, of which the older may not be served.
func definition(v1 bool) string {
	const version = `{"name":%q,"served":%t,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},` +
		`"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},` +
		`"versions":[` + fmt.Sprintf(version, "v1", v1, false) + "," + fmt.Sprintf(version, "v2", true, true) + `]}}`
}

package interpose

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/claims"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// shared is the cluster of all tests. Its collectors wait most of the time, half a
// minute between two looks at discovery, and therefore at the same time.
var shared *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err) // it is a number
	}
	os.Exit(cluster.Main(m, &shared))
}

func TestClaims(t *testing.T) { claims.Check(t, "interpose") }

// collector is a collector of Kubernetes whose requests go through a proxy.
type collector struct {
	*proxy
	manager *cluster.Manager
	fences  int
}

// newCollector makes a proxy whose collector has not started.
func newCollector(t *testing.T, realm string) *collector {
	t.Helper()
	p, err := startProxy(shared, realm)
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{proxy: p}
	t.Cleanup(func() {
		c.end()
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// start starts the collector.
func (c *collector) start(t *testing.T) {
	t.Helper()
	var err error
	if c.manager, err = cluster.StartTalking(5, c.URL, "garbage-collector-controller"); err != nil {
		t.Fatal(err)
	}
}

// end ends the collector.
func (c *collector) end() {
	if c.manager != nil {
		c.manager.Stop()
		c.manager = nil
	}
}

// logged are the lines so far of the collector's log that contain a text.
func (c *collector) logged(text string) []string { return c.manager.Logged(text) }

// world is one namespace with the objects of one test. Its objects are called as
// in a scenario file.
type world struct {
	*collector
	t         *testing.T
	namespace string
	// names are what a scenario file calls a UID.
	names map[string]string
}

func (c *collector) world(t *testing.T, name string) *world {
	t.Helper()
	w := &world{collector: c, t: t, namespace: c.realm + "-" + name, names: map[string]string{}}
	w.must(http.MethodPost, "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, w.namespace))
	return w
}

// kinds are the kinds of the tests by the last part of their collection's path.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "secrets": "Secret", "events": "Event", "widgets": "Widget", "blinds": "Widget",
}

// places are the collections of kinds.
var places = map[string]string{
	"ConfigMap": "/api/v1/namespaces/NS/configmaps", "Secret": "/api/v1/namespaces/NS/secrets",
	"Event":             "/apis/events.k8s.io/v1/namespaces/NS/events",
	"ClusterRole":       "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	"PersistentVolume":  "/api/v1/persistentvolumes",
	"CustomResourceDef": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}

// at is where an object is, or a collection.
func (w *world) at(kind, name string) string {
	place, ok := places[kind]
	if !ok { // a custom resource: its group is its plural and the realm
		plural := strings.ToLower(kind) + "s"
		place = fmt.Sprintf("/apis/%s.%s.example.com/v1/namespaces/NS/%s", plural, w.realm, plural)
	}
	return strings.TrimSuffix(strings.ReplaceAll(place, "NS", w.namespace)+"/"+name, "/")
}

func (w *world) must(method, path, body string) []byte {
	w.t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	text, err := shared.Do(w.t.Context(), method, path, contentType, []byte(body))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// create makes an object and returns its UID. The texts called with are owner
// references.
func (w *world) create(kind, name string, owners ...string) string {
	w.t.Helper()
	extra := ""
	if kind == "Event" {
		extra = `,"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"c","action":"a","reason":"r",` +
			`"type":"Normal","regarding":{"namespace":"` + w.namespace + `"}`
	}
	var apiVersion string
	if kind == "Event" || places[kind] == "" {
		group, _, _ := strings.Cut(strings.TrimPrefix(w.at(kind, ""), "/apis/"), "/namespaces")
		apiVersion = fmt.Sprintf(`"apiVersion":%q,"kind":%q,`, group, kind)
	}
	uid := w.post(w.at(kind, ""), fmt.Sprintf(`{%s"metadata":{"name":%q,"ownerReferences":[%s]}%s}`,
		apiVersion, name, strings.Join(owners, ","), extra))
	called := name
	if slices.Contains(slices.Collect(maps.Values(w.names)), name) {
		called += "2"
	}
	w.names[uid] = called
	return uid
}

// post makes an object and returns its UID.
func (w *world) post(path, manifest string) string {
	w.t.Helper()
	var o struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(w.must(http.MethodPost, path, manifest), &o); err != nil {
		w.t.Fatal(err)
	}
	return o.Metadata.UID
}

// owner makes a ConfigMap that the collector has seen when this returns.
func (w *world) owner(name string) string {
	w.t.Helper()
	uid := w.create("ConfigMap", name)
	w.fence()
	return uid
}

// ref is an owner reference.
func ref(apiVersion, kind, name, uid string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`, apiVersion, kind, name, uid)
}

// blocking is an owner reference that blocks.
func blocking(reference string) string {
	return strings.TrimSuffix(reference, "}") + `,"blockOwnerDeletion":true}`
}

// delete deletes an object as a user does; without a policy nothing is said.
func (w *world) delete(kind, name, policy string) {
	w.t.Helper()
	body := ""
	if policy != "" {
		body = fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":%q}`, policy)
	}
	w.must(http.MethodDelete, w.at(kind, name), body)
}

// patch changes the metadata of an object as a user does.
func (w *world) patch(kind, name, metadata string) {
	w.t.Helper()
	w.must(http.MethodPatch, w.at(kind, name), `{"metadata":{`+metadata+`}}`)
}

// get reads an object; nil when it is not there.
func (w *world) get(kind, name string) []byte {
	w.t.Helper()
	text, err := shared.Do(w.t.Context(), http.MethodGet, w.at(kind, name), "", nil)
	if cluster.Code(err) == http.StatusNotFound {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *world) gone(kind, name string) {
	w.t.Helper()
	w.until(kind+" "+name+" is gone", func() bool { return w.get(kind, name) == nil })
}

// stays makes sure that an object is there and not being deleted.
func (w *world) stays(kind, name string) {
	w.t.Helper()
	if text := string(w.get(kind, name)); text == "" || strings.Contains(text, "deletionTimestamp") {
		w.t.Fatalf("%s %s is not there, or being deleted: %s", kind, name, text)
	}
}

// fence returns when the collector has begun with everything that it was told of
// ConfigMaps before.
func (w *world) fence() { w.t.Helper(); w.fenceOf("ConfigMap") }

func (w *world) fenceOf(kind string) {
	w.t.Helper()
	w.fences++
	name := fmt.Sprintf("fence-%d", w.fences)
	w.create(kind, name, ref("v1", "Secret", name, w.namespace+name))
	w.gone(kind, name)
}

// answered are the requests so far that fit, once all of them are answered: what a
// request did shows before its answer has come back.
func (w *world) answered(x pattern) (list []request) {
	w.t.Helper()
	w.until("what was asked is answered", func() bool {
		list = w.asked(x)
		return !slices.ContainsFunc(list, func(q request) bool { return q.code == 0 })
	})
	return list
}

// held waits until a request is held.
func (w *world) held(r *rule) {
	w.t.Helper()
	select {
	case <-r.arrived:
	case <-time.After(cluster.Patience):
		w.t.Fatalf("no request came that fits %+v; there were:\n%s", r.pattern, strings.Join(w.script(), "\n"))
	}
}

func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	cluster.Until(w.t, what, holds)
}

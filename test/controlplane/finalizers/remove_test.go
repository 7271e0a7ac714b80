package finalizers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// define makes a definition of custom resources and waits until they are served and
// discovered.
func (s *stage) define(group string) (definition, carts string) {
	s.Helper()
	s.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body{
		"metadata": body{"name": "carts." + group},
		"spec": body{
			"group": group, "scope": "Namespaced", "names": body{"plural": "carts", "singular": "cart", "kind": "Cart", "listKind": "CartList"},
			"versions": []body{{"name": "v1", "served": true, "storage": true, "schema": body{"openAPIV3Schema": body{"type": "object"}}}},
		},
	})
	carts = "/apis/" + group + "/v1/namespaces/" + s.namespace + "/carts"
	if err := plane.Serves(s.ctx, group, "carts", "v1"); err != nil {
		s.Fatal(err)
	}
	return "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/carts." + group, carts
}

// A custom resource that is stuck is freed; its dependents are collected by the
// cluster, as was foretold. Only what was named goes.
func TestFreesWhatIsStuck(t *testing.T) {
	s := enter(t)
	_, carts := s.define("free.example.com")
	s.controllers(collector) // one that knows the kind from its start
	uid := s.post(carts, body{"apiVersion": "free.example.com/v1", "kind": "Cart", "metadata": body{"name": "one", "finalizers": []string{"free.example.com/a", "free.example.com/b"}}})
	s.post(s.in("configmaps"), body{"metadata": body{"name": "below", "ownerReferences": []body{{"apiVersion": "free.example.com/v1", "kind": "Cart", "name": "one", "uid": uid}}}})
	s.want(s.gc("remove-finalizer", "cart/one", "free.example.com/a", "-n", s.namespace), 5, "not being deleted")
	s.delete(carts+"/one", "Background")

	s.want(s.gc("remove-finalizer", "cart/one", "free.example.com/c", "-n", s.namespace), 5, "does not have it")
	s.want(s.gc("remove-finalizer", "cart/one", "free.example.com/a", "-n", s.namespace), 5, "terminal")
	s.want(s.confirmed("remove-finalizer", "cart/one", "free.example.com/a", "-n", s.namespace), 0)
	if left := s.at(carts + "/one"); left == nil || !slices.Equal(left.Finalizers, []string{"free.example.com/b"}) {
		t.Fatalf("left %+v", left)
	}
	if s.at(s.in("configmaps/below")) == nil {
		t.Fatal("the dependent of what is still there is gone")
	}
	run := document[report.Run](t, s.want(s.confirmed("remove-finalizer", "cart/one", "free.example.com/b", "-n", s.namespace, "--wait", "--timeout="+cluster.Patience.String(), "-o", "json"), 0))
	if run.State != report.Complete || run.Summary.Confirmed != 1 || run.Summary.Gone != 2 || len(run.Differences) != 0 {
		t.Errorf("the run: %+v", run)
	}
	if s.at(carts+"/one") != nil || s.at(s.in("configmaps/below")) != nil {
		t.Error("not freed")
	}
	if n := len(s.bundles()); n != 2 {
		t.Errorf("%d backups, want one of each run", n)
	}
}

// Of a selection those are freed that are stuck; the others are not touched.
func TestFreesAllOfAKind(t *testing.T) {
	s := enter(t)
	for _, name := range []string{"a", "b", "alive"} {
		s.configMap(name, []string{"example.com/hold"})
	}
	s.configMap("other", []string{"example.com/other"})
	for _, name := range []string{"a", "b", "other"} {
		s.delete(s.in("configmaps/"+name), "Background")
	}
	args := []string{"remove-finalizer", "configmaps", "--all-of-kind", "example.com/hold", "-n", s.namespace}
	s.want(s.gc(append(args, "--dry-run")...), 0, "cm/a", "cm/b", "1 not being deleted")
	s.want(s.confirmed(args...), 0)
	if s.at(s.in("configmaps/a")) != nil || s.at(s.in("configmaps/b")) != nil {
		t.Error("not freed")
	}
	for _, name := range []string{"alive", "other"} {
		if o := s.at(s.in("configmaps/" + name)); o == nil || len(o.Finalizers) != 1 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Taking orphan off turns orphaning into a cascade (Q8, S138): the plan says so, and
// it is so.
func TestOrphanTurnsIntoCascade(t *testing.T) {
	s := enter(t) // no collector: the finalizer stays until we come
	uid := s.configMap("owner", nil)
	s.configMap("below", nil, "owner", uid)
	s.delete(s.in("configmaps/owner"), "Orphan")
	args := []string{"remove-finalizer", "configmap/owner", "orphan", "-n", s.namespace}
	s.want(s.gc(args...), 5, "--unlock=gc", "garbage collector's")
	if s.at(s.in("configmaps/owner")) == nil {
		t.Fatal("it was refused, and is gone")
	}
	args = append(args, "--unlock=gc")
	p := document[report.Plan](t, s.want(s.gc(append(args, "--dry-run", "-o", "json")...), 0))
	if !slices.ContainsFunc(p.Effects, func(e report.Effect) bool {
		// A collector that starts meanwhile may still come first.
		return e.Object.Name == "below" && e.Outcome == report.Deleted && len(e.Otherwise) == 1 && e.Otherwise[0].Outcome == report.Orphaned
	}) {
		t.Errorf("the plan: %+v", p.Effects)
	}
	s.want(s.confirmed(args...), 0)
	if s.at(s.in("configmaps/owner")) != nil {
		t.Fatal("not freed")
	}
	s.controllers(collector)
	s.gone(s.in("configmaps/below"))
}

// A claim is protected while a pod uses it, also when the pod comes after the plan.
func TestClaimInUse(t *testing.T) {
	s := enter(t)
	s.post(s.in("serviceaccounts"), body{"metadata": body{"name": "default"}})
	s.post(s.in("persistentvolumeclaims"), body{"metadata": body{"name": "data"}, "spec": body{
		"accessModes": []string{"ReadWriteOnce"}, "resources": body{"requests": body{"storage": "1Gi"}},
	}})
	s.delete(s.in("persistentvolumeclaims/data"), "Background")
	args := []string{"remove-finalizer", "pvc/data", "kubernetes.io/pvc-protection", "-n", s.namespace}
	digest := s.digest(args...)
	s.post(s.in("pods"), body{"metadata": body{"name": "web"}, "spec": body{
		"containers": []body{{"name": "c", "image": "i"}},
		"volumes":    []body{{"name": "v", "persistentVolumeClaim": body{"claimName": "data"}}},
	}})
	s.want(s.gc(append(args, "--confirm="+digest)...), 5, "in use", "pod/web", "--unlock=in-use")
	if o := s.at(s.in("persistentvolumeclaims/data")); o == nil || len(o.Finalizers) != 1 {
		t.Fatalf("touched: %+v", o)
	}
	s.want(s.confirmed(append(args, "--unlock=in-use")...), 0)
	if s.at(s.in("persistentvolumeclaims/data")) != nil {
		t.Error("not freed")
	}
}

// The clean-up of a definition stays while there are instances.
func TestDefinitionWithInstances(t *testing.T) {
	s := enter(t)
	definition, carts := s.define("define.example.com")
	s.post(carts, body{"apiVersion": "define.example.com/v1", "kind": "Cart", "metadata": body{"name": "one", "finalizers": []string{"define.example.com/hold"}}})
	s.delete(definition, "Background")
	args := []string{"remove-finalizer", "crd/carts.define.example.com", "customresourcecleanup.apiextensions.k8s.io"}
	s.want(s.gc(args...), 5, "has instances", "--unlock=instances", "cart.define.example.com/one")
	if s.at(definition) == nil {
		t.Fatal("it was refused, and is gone")
	}
	s.until("the instance is being deleted", func() bool { o := s.at(carts + "/one"); return o != nil && o.DeletionTimestamp != nil })
	s.want(s.confirmed("remove-finalizer", "cart.define.example.com/one", "define.example.com/hold", "-n", s.namespace), 0)
	s.gone(definition) // the API server does the rest
}

// A namespace is finalized through its own subresource, and only when it is empty.
func TestNamespace(t *testing.T) {
	s := enter(t)
	s.configMap("left", nil)
	path := "/api/v1/namespaces/" + s.namespace
	s.delete(path, "Background")
	args := []string{"remove-finalizer", "namespace/" + s.namespace, "kubernetes"}
	s.want(s.gc(args...), 5, "has content", "--unlock=content", "cm/left")
	s.delete(s.in("configmaps/left"), "Background")
	s.want(s.confirmed(args...), 0)
	if s.at(path) != nil {
		t.Error("not finalized")
	}
}

// What has changed between the plan and the request is read and judged once more,
// and the request is for what was read then.
func TestChangedMeanwhile(t *testing.T) {
	s := enter(t)
	s.configMap("busy", []string{"example.com/hold", "example.com/other", "example.com/third"})
	s.delete(s.in("configmaps/busy"), "Background")
	args := []string{"remove-finalizer", "configmap/busy", "example.com/hold", "-n", s.namespace}
	digest := s.digest(args...)
	s.do(http.MethodPatch, s.in("configmaps/busy"), "application/merge-patch+json",
		body{"data": body{"of": "somebody else"}, "metadata": body{"finalizers": []string{"example.com/hold", "example.com/other"}}})
	s.want(s.gc(append(args, "--confirm="+digest)...), 5, "another plan")
	writes := 0
	front := s.between(func(method, path string) {
		// Between our reading and our writing somebody else writes, twice.
		if method == http.MethodPatch && writes < 2 {
			writes++
			s.do(http.MethodPatch, s.in("configmaps/busy"), "application/merge-patch+json", body{"data": body{"n": strconv.Itoa(writes)}})
		}
	})
	s.want(s.confirmed(append(args, "--server="+front, "--insecure-skip-tls-verify")...), 0)
	o := s.at(s.in("configmaps/busy"))
	if o == nil || !slices.Equal(o.Finalizers, []string{"example.com/other"}) {
		t.Errorf("left %+v", o)
	}
	if writes != 2 {
		t.Errorf("%d writes of somebody else came between", writes)
	}
	var whole struct{ Data map[string]string }
	raw, err := plane.Do(s.ctx, http.MethodGet, s.in("configmaps/busy"), "", nil)
	if err != nil || json.Unmarshal(raw, &whole) != nil || whole.Data["of"] != "somebody else" {
		t.Errorf("what somebody else wrote is lost: %s", raw)
	}
}

// A 422 that is no failed test, but the word of a policy: nobody has changed the
// object since, so it is not tried again and again.
func TestRefusedByPolicy(t *testing.T) {
	s := enter(t)
	s.configMap("locked", []string{"example.com/hold"})
	s.delete(s.in("configmaps/locked"), "Background")
	s.forbidOn("UPDATE", "locked", func() error {
		_, err := plane.Do(s.ctx, http.MethodPatch, s.in("configmaps/locked")+"?dryRun=All", "application/merge-patch+json", []byte(`{"data":{"a":"b"}}`))
		return err
	})
	patches := 0
	front := s.between(func(method, _ string) {
		if method == http.MethodPatch {
			patches++
		}
	})
	args := []string{"remove-finalizer", "configmap/locked", "example.com/hold", "-n", s.namespace, "--server=" + front, "--insecure-skip-tls-verify"}
	s.want(s.confirmed(args...), 1, "1 refused", "ValidatingAdmissionPolicy")
	if o := s.at(s.in("configmaps/locked")); o == nil || len(o.Finalizers) != 1 || patches != 1 {
		t.Errorf("%+v after %d patches", o, patches)
	}
}

// between serves the API server under another URL, and is told of every request
// before it is passed on.
func (s *stage) between(before func(method, path string)) string {
	s.Helper()
	target, err := url.Parse(plane.URL)
	if err != nil {
		s.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: plane.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+plane.Token)
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before(r.Method, r.URL.Path)
		proxy.ServeHTTP(w, r)
	}))
	s.Cleanup(server.Close)
	return server.URL
}

package controller

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// workload makes a Deployment with a ReplicaSet and three Pods, as its controllers
// would.
func workload(t *testing.T, namespace, name string) {
	t.Helper()
	labels := body{"app": name}
	pod := body{"metadata": body{"labels": labels}, "spec": body{"containers": []body{{"name": "c", "image": "i"}}}}
	spec := body{"replicas": 3, "selector": body{"matchLabels": labels}, "template": pod}
	apps := "/apis/apps/v1/namespaces/" + namespace
	deployment := post(t, apps+"/deployments", body{"metadata": body{"name": name}, "spec": spec})
	set := post(t, apps+"/replicasets", body{"metadata": body{"name": name, "ownerReferences": []body{{
		"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": deployment.UID, "controller": true, "blockOwnerDeletion": true,
	}}}, "spec": spec})
	for i := range 3 {
		post(t, "/api/v1/namespaces/"+namespace+"/pods", body{"metadata": body{"name": fmt.Sprint(name, "-", i), "ownerReferences": []body{{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": set.UID, "controller": true, "blockOwnerDeletion": true,
		}}}, "spec": pod["spec"]})
	}
}

// The controller under upstream rules is the collector of an API server that has
// none.
func TestUpstreamRules(t *testing.T) {
	namespace := space(t)
	start(t, "--rules=upstream", "--mode=enforce", "--sync-period=1s", "--leader-elect-namespace="+namespace).collecting()
	apps := "/apis/apps/v1/namespaces/" + namespace
	pods := "/api/v1/namespaces/" + namespace + "/pods"
	for _, policy := range []string{"Background", "Foreground"} {
		workload(t, namespace, strings.ToLower(policy))
		remove(t, apps+"/deployments/"+strings.ToLower(policy), policy)
		until(t, policy+": everything goes", func() bool {
			return len(list(t, apps+"/deployments")) == 0 && len(list(t, apps+"/replicasets")) == 0 && len(list(t, pods)) == 0
		})
	}
	workload(t, namespace, "orphan")
	remove(t, apps+"/deployments/orphan", "Orphan")
	until(t, "the owner goes alone", func() bool { return len(list(t, apps+"/deployments")) == 0 })
	sets := list(t, apps+"/replicasets")
	if len(sets) != 1 || len(sets[0].OwnerReferences) > 0 || len(list(t, pods)) != 3 {
		t.Errorf("left are %v and %v", sets, list(t, pods))
	}
}

// Two collectors would each rely on a graph of their own: the second one ends before
// it writes anything.
func TestAnotherCollector(t *testing.T) {
	namespace := space(t)
	if err := plane.Controllers("garbage-collector-controller"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Controllers(); err != nil {
			t.Error(err)
		}
	}()
	configMap(t, namespace, "garbage", absent())
	until(t, "the other one collects", func() bool { return get(t, path(namespace, "configmaps", "garbage")) == nil })
	p := start(t, "--rules=upstream", "--mode=enforce", "--leader-elect-namespace="+namespace)
	if code := p.code(); code != 1 || !strings.Contains(p.log.String(), "another garbage collector is at work") {
		t.Errorf("exit code %d:\n%s", code, p.log.String())
	}
	if strings.Contains(p.log.String(), "msg=collecting") {
		t.Errorf("it collected:\n%s", p.log.String())
	}
}

// Whoever observes writes nothing about any object but events.
func TestObserve(t *testing.T) {
	namespace, elsewhere := space(t), "default"
	owner := configMap(t, namespace, "owner")
	configMap(t, namespace, "live", mapOwner("owner", owner.UID))
	garbage := configMap(t, namespace, "garbage", absent())
	configMap(t, namespace, "dangling", mapOwner("owner", owner.UID), absent())
	astray := configMap(t, elsewhere, "astray", mapOwner("owner", owner.UID))
	defer remove(t, path(elsewhere, "configmaps", "astray"), "Orphan")
	both := func() string { // the API server writes elsewhere
		return fmt.Sprint(list(t, "/api/v1/namespaces/"+namespace+"/configmaps"), list(t, "/api/v1/namespaces/"+elsewhere+"/configmaps"))
	}
	before := both()

	p := start(t, "--absent-owner-grace-period=0", "--sync-period=1s").collecting()
	until(t, "decisions are counted", func() bool {
		return p.metric("kubectl_gc_decisions_total", `reason="NoExistingOwner"`, `outcome="observed"`) >= 1 &&
			p.metric("kubectl_gc_decisions_total", `reason="DanglingReferences"`, `outcome="observed"`) >= 1
	})
	told := func(uid, reason string) func() bool {
		return func() bool {
			text, err := ask(t, http.MethodGet, "/api/v1/events?fieldSelector=involvedObject.uid="+uid+",reason="+reason, nil)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(text), `"involvedObject"`)
		}
	}
	until(t, "the garbage is told", told(garbage.UID, "NoExistingOwner"))
	until(t, "the one with a reference into another namespace is told", told(astray.UID, "OwnerRefInvalidNamespace"))
	if after := both(); after != before {
		t.Errorf("before: %s\nafter:  %s", before, after)
	}
	for _, verb := range []string{"delete", "patch", "put", "post"} {
		if n := p.metric("kubectl_gc_requests_total", `verb="`+verb+`"`); n > 0 {
			t.Errorf("%v requests of verb %s", n, verb)
		}
	}

	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{"/healthz", http.StatusOK, "ok"},
		{"/readyz", http.StatusOK, "collecting"},
		{"/metrics", http.StatusOK, "kubectl_gc_objects"},
		{"/debug/graph", http.StatusOK, garbage.UID},
		{"/debug/graph?uid=" + owner.UID, http.StatusOK, `missing="false"`},
		{"/debug/graph?uid=none&uid=" + garbage.UID, http.StatusOK, `name="never"`},
		{"/debug/pprof", http.StatusNotFound, ""},
		{"/", http.StatusNotFound, ""},
	} {
		if code, text := p.ask(c.path); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s answers %d without %q:\n%.2000s", c.path, code, c.want, text)
		}
	}
	if _, text := p.ask("/debug/graph?uid=" + owner.UID); strings.Contains(text, garbage.UID) {
		t.Errorf("the graph of one object shows another:\n%s", text)
	}
	if p.metric("kubectl_gc_objects") < 5 || p.metric("kubectl_gc_kinds", `state="synced"`) < 20 || p.metric("kubectl_gc_safety_limit_tripped") != 0 {
		t.Error("the gauges are off")
	}
	if _, text := p.ask("/metrics"); strings.Contains(text, "astray") || strings.Contains(text, namespace) {
		t.Error("a metric names an object")
	}
}

// Strict rules wait for the quarantine and keep what is protected.
func TestStrictRules(t *testing.T) {
	namespace := space(t)
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=1s", "--sync-period=1s").collecting()
	configMap(t, namespace, "garbage", absent())
	post(t, "/api/v1/namespaces/"+namespace+"/configmaps", body{"metadata": body{
		"name": "kept", "ownerReferences": []body{absent()}, "annotations": body{"kubectl-gc.io/protect": "true"},
	}})
	claim := post(t, "/api/v1/namespaces/"+namespace+"/persistentvolumeclaims", body{
		"metadata": body{"name": "disk", "ownerReferences": []body{absent()}},
		"spec":     body{"accessModes": []string{"ReadWriteOnce"}, "resources": body{"requests": body{"storage": "1Gi"}}},
	})
	until(t, "the garbage goes", func() bool { return get(t, path(namespace, "configmaps", "garbage")) == nil })
	until(t, "the others are refused", func() bool {
		return p.metric("kubectl_gc_decisions_total", `reason="ProtectedByAnnotation"`) >= 1 &&
			p.metric("kubectl_gc_decisions_total", `reason="ProtectedKind"`) >= 1
	})
	if get(t, path(namespace, "configmaps", "kept")) == nil {
		t.Error("what is annotated is gone")
	}
	if now := get(t, path(namespace, "persistentvolumeclaims", "disk")); now == nil || now.ResourceVersion != claim.ResourceVersion {
		t.Errorf("the claim is %v, was %v", now, claim)
	}
}

// The quarantine is for owners of which nobody knows whether they were ever there.
func TestQuarantine(t *testing.T) {
	namespace := space(t)
	garbage := configMap(t, namespace, "garbage", absent())
	owner := configMap(t, namespace, "owner")
	configMap(t, namespace, "dependent", mapOwner("owner", owner.UID))
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=1h").collecting()
	remove(t, path(namespace, "configmaps", "owner"), "Background")
	until(t, "the dependent goes", func() bool { return get(t, path(namespace, "configmaps", "dependent")) == nil })
	until(t, "the garbage is looked at", func() bool { return p.metric("kubectl_gc_unknown_total") >= 1 })
	if now := get(t, path(namespace, "configmaps", "garbage")); now == nil || now.ResourceVersion != garbage.ResourceVersion {
		t.Errorf("the garbage is %v", now)
	}
}

// More deletes in a minute than allowed: no more at all, and not ready.
func TestSafetyLimit(t *testing.T) {
	namespace := space(t)
	for i := range 12 {
		configMap(t, namespace, fmt.Sprint("garbage-", i), absent())
	}
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=0", "--max-deletes-per-minute=5")
	p.says("the safety limit has tripped")
	until(t, "refusals are counted", func() bool { return p.metric("kubectl_gc_decisions_total", `reason="SafetyLimitTripped"`) >= 7 })
	if left := count(t, namespace, "garbage-"); left < 7 {
		t.Errorf("%d of 12 are left, want 7 at least", left)
	}
	if code, _ := p.ask("/readyz"); code != http.StatusServiceUnavailable || p.metric("kubectl_gc_safety_limit_tripped") != 1 {
		t.Errorf("/readyz answers %d, the metric is %v", code, p.metric("kubectl_gc_safety_limit_tripped"))
	}
	if code, _ := p.ask("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d: a restart would reset the limit", code)
	}
}

package collecting

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// returns are the hazards of owners that come back with the same uid.
func returns() []hazard {
	return []hazard{
		{"H1.1", "the stored owner is written back", "deleted or reference removed; where the only owner, kept", func(p *peril) { writtenBack(p, false) }},
		{"H1.2", "the same, read through a version that is not preferred", "new dependents deleted", func(p *peril) { readThroughOlder(p, false) }},
		{"H1.3", "its kind goes and returns, the owner survives in storage", "deleted, before and after the return", kindReturns},
		{"H1.4", "the whole storage is restored", "deleted", storageReturns},
		{"H1.5a", "as H1.1, the garbage collector restarted", "kept", func(p *peril) { writtenBack(p, true) }},
		{"H1.5b", "as H1.2, the garbage collector restarted", "kept", func(p *peril) { readThroughOlder(p, true) }},
	}
}

// restore puts an object into storage and waits until it is there.
func (p *peril) restore(key, path, manifest string) {
	p.t.Helper()
	if err := p.Store([]cluster.Stored{{Key: key, Manifest: []byte(manifest)}}); err != nil {
		p.t.Fatal(err)
	}
	p.until("the owner is there", func() bool { return !p.gone(path) })
}

func writtenBack(p *peril, restart bool) {
	p.t.Helper()
	o := owner{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "uid-" + p.namespace}
	back := func() {
		p.restore("configmaps/"+p.namespace+"/owner", p.at("configmaps", "owner"), fmt.Sprintf(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner","namespace":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z"}}`,
			p.namespace, o.UID))
	}
	back()
	p.begin()
	p.goes(p.at("configmaps", "owner"), o)
	back()
	p.fence("configmaps")
	if restart {
		p.again()
	}
	other, third := p.second("other"), p.second("third")
	two := p.dependent("two", 1, o, other)
	three := p.dependent("three", 2, o, third, other)
	p.dependent("alone", 1, o)
	p.fence("configmaps")
	p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, two, three)
	p.fresh("new", 1, o, owner{APIVersion: "v1", Kind: "Secret", Name: "dangling", UID: "dangling"})
	p.waste()
}

// goes has a dependent of an owner collected after the owner.
func (p *peril) goes(path string, o owner) {
	p.t.Helper()
	p.configMap("first", o)
	p.garbage = append(p.garbage, p.at("configmaps", "first"))
	p.fence("configmaps")
	p.remove(path, "Background")
	p.until("its dependent is collected", func() bool { return p.gone(p.at("configmaps", "first")) })
}

// fresh makes a new dependent, which is looked at.
func (p *peril) fresh(name string, living int, owners ...owner) {
	p.t.Helper()
	var d owner
	p.judged(func() { d = p.dependent(name, living, owners...) })
	if p.g != nil {
		p.until(name+" is looked at", func() bool { return p.g.looked(d.UID) > 0 })
	}
}

func readThroughOlder(p *peril, restart bool) {
	p.t.Helper()
	o := owner{APIVersion: "autoscaling/v1", Kind: "HorizontalPodAutoscaler", Name: "owner", UID: "uid-" + p.namespace}
	path := place("/apis/autoscaling/v2", p.namespace, "horizontalpodautoscalers", "owner")
	back := func() {
		p.restore("horizontalpodautoscalers/"+p.namespace+"/owner", path, fmt.Sprintf(
			`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"owner","namespace":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z"},`+
				`"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"}}}`, p.namespace, o.UID))
	}
	back()
	p.begin()
	p.goes(path, o)
	back()
	p.fence("configmaps")
	if restart {
		p.again()
	}
	p.fresh("through-v1", 1, o)
	o.APIVersion = "autoscaling/v2"
	p.dependent("through-v2", 1, o)
	p.fence("configmaps")
	p.waste()
}

func kindReturns(p *peril) {
	p.t.Helper()
	p.things = definition{group: p.namespaceGroup(), versions: []version{{"v1", true, true}}}
	p.define(p.things)
	o := p.thing(p.things, "v1", "", p.namespace)
	during, after := p.second("during"), p.second("after")
	first := p.dependent("while-it-is-gone", 1, o, during)
	then := p.dependent("when-it-is-back", 1, o, after)
	p.begin()
	// As when the definition's finalizer is taken off by hand: the objects stay.
	if err := p.Wipe("apiextensions.k8s.io/customresourcedefinitions/things." + p.things.group); err != nil {
		p.t.Fatal(err)
	}
	p.until("the kind is not served", func() bool { return p.gone(p.things.root("v1", "")) })
	p.judged(func() { p.remove(p.at("secrets", "during"), "Background") }, first)
	p.waste()
	p.post(definitions, p.things.manifest())
	p.until("the owner is back", func() bool { return !p.gone(p.things.root("v1", "", p.namespace)) })
	if back, _ := p.get(p.things.root("v1", "", p.namespace)); back.UID != o.UID || back.DeletionTimestamp != "" {
		p.t.Fatalf("another owner is there: %+v", back)
	}
	p.wait("the kind is known", func(api engine.API) bool { return p.served("v1", true)(api) })
	p.judged(func() { p.remove(p.at("secrets", "after"), "Background") }, then)
}

// storageReturns puts the whole storage back under a running collector; what other
// tests had there is there again. Nothing
// counts as absent on a server that is older than what was seen of it, so garbage
// goes when the server has caught up.
func storageReturns(p *peril) {
	p.t.Helper()
	o := p.configMap("owner")
	other := p.second("other")
	d := p.dependent("two", 1, o, other)
	if err := p.Backup(); err != nil {
		p.t.Fatal(err)
	}
	p.begin()
	p.configMap("first", o)
	p.fence("configmaps")
	p.remove(p.at("configmaps", "owner"), "Background")
	p.until("a dependent is collected", func() bool { return p.gone(p.at("configmaps", "first")) })
	seen := p.second("seen-last")
	late, _ := p.get(p.at("secrets", seen.Name))
	if err := p.Restore(); err != nil {
		p.t.Fatal(err)
	}
	p.until("the server has come as far as it was", func() bool {
		now := p.second(fmt.Sprintf("later-%d", p.fences))
		p.fences++
		o, _ := p.get(p.at("secrets", now.Name))
		return len(o.ResourceVersion) > len(late.ResourceVersion) || len(o.ResourceVersion) == len(late.ResourceVersion) && o.ResourceVersion > late.ResourceVersion
	})
	p.fence("configmaps")
	p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, d)
	p.fresh("new", 1, o, owner{APIVersion: "v1", Kind: "Secret", Name: "dangling", UID: "dangling"})
	p.waste()
}

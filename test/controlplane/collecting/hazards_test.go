package collecting

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// theirs has the hazards lived through with the collector of Kubernetes, to see
// what it loses.
var theirs = flag.Bool("theirs", false, "live through the hazards with the garbage collector of Kubernetes, which loses objects")

// hazard is one way in which the collector of Kubernetes is known to take a living
// owner for an absent one (spec §3.18).
type hazard struct {
	id, what string
	// upstream is what becomes of the dependents there, as measured.
	upstream string
	live     func(*peril)
}

// peril is a hazard at work.
type peril struct {
	*stage
	g *collector // nil with the collector of Kubernetes
	// options and connection are of our collector.
	options    kube.CollectorOptions
	connection kube.Options
	things     definition
	// victims are dependents of living owners, and garbage is what has to go.
	victims []victim
	garbage []string
}

// victim is an object that has to stay, and the living owners to which it has to
// go on referring.
type victim struct {
	path, uid string
	living    []owner
}

// TestHazards lives through every hazard with our collector under strict rules. Not
// one dependent of a living owner is deleted, and not one reference to such an
// owner is removed, while garbage is collected.
func TestHazards(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\twhat happens\tupstream, as measured\tdependents\tdeleted\treferences removed\tgarbage left")
	for _, h := range hazards() {
		t.Run(h.id, func(t *testing.T) {
			p := &peril{stage: share(t)}
			p.options = kube.CollectorOptions{Rules: engine.Strict, SyncPeriod: 30 * time.Second}
			h.live(p)
			deleted, pruned, left := p.harm()
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", h.id, h.what, h.upstream, len(p.victims), deleted, pruned, left)
			if len(p.victims) == 0 || len(p.garbage) == 0 {
				t.Error("the hazard had no victims, or no garbage")
			}
			if !*theirs && deleted+pruned+left > 0 {
				t.Errorf("%d of %d dependents of living owners deleted, %d references removed; %d of %d objects left that are garbage",
					deleted, len(p.victims), pruned, left, len(p.garbage))
			}
			p.rest()
		})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
}

// harm counts dependents of living owners that are gone or being deleted, those
// that have lost a reference to one, and garbage that is there.
func (p *peril) harm() (deleted, pruned, left int) {
	for _, v := range p.victims {
		o, there := p.get(v.path)
		switch {
		case !there || o.UID != v.uid || o.DeletionTimestamp != "":
			deleted++
		case slices.ContainsFunc(v.living, func(r owner) bool {
			return !slices.ContainsFunc(o.OwnerReferences, func(have owner) bool { return have.UID == r.UID })
		}):
			pruned++
		}
	}
	for _, path := range p.garbage {
		if !p.gone(path) {
			left++
		}
	}
	return deleted, pruned, left
}

// begin starts the collector.
func (p *peril) begin() {
	p.t.Helper()
	if *theirs {
		if err := p.Controllers("garbage-collector-controller"); err != nil {
			p.t.Fatal(err)
		}
		p.fence("configmaps")
		return
	}
	p.g = start(p.t, p.Cluster, p.options, p.connection)
}

// rest stops it.
func (p *peril) rest() {
	p.t.Helper()
	if p.g != nil {
		p.g.end()
		p.g = nil
		return
	}
	if err := p.Controllers(); err != nil {
		p.t.Fatal(err)
	}
}

// again starts the collector anew.
func (p *peril) again() {
	p.t.Helper()
	p.rest()
	p.begin()
}

// wait returns when our collector knows what is served, or when that of Kubernetes
// must have looked.
func (p *peril) wait(what string, known func(engine.API) bool) {
	p.t.Helper()
	if p.g == nil {
		p.dwell(theirPeriod)
		return
	}
	p.until(what, func() bool { return known(p.g.client) })
}

// theirPeriod is more than the time between two looks of Kubernetes' collector at
// discovery, and theirLook more than it takes for what is enqueued.
const (
	theirPeriod = 35 * time.Second
	theirLook   = 3 * time.Second
)

// judged does something that has dependents looked at, and returns when they were.
func (p *peril) judged(do func(), dependents ...owner) {
	p.t.Helper()
	if p.g == nil {
		do()
		p.fence("configmaps")
		p.dwell(theirLook)
		return
	}
	before := make([]int, len(dependents))
	for i, d := range dependents {
		before[i] = p.g.looked(d.UID)
	}
	do()
	for i, d := range dependents {
		p.until(d.Name+" is looked at", func() bool { return p.g.looked(d.UID) > before[i] })
	}
}

// dependent makes a config map with owners, of which those that stay are named
// first.
func (p *peril) dependent(name string, living int, owners ...owner) owner {
	p.t.Helper()
	d := p.configMap(name, owners...)
	p.victims = append(p.victims, victim{p.at("configmaps", name), d.UID, owners[:living]})
	return d
}

// existing puts config maps with an owner into storage.
func (p *peril) existing(n int, o owner) {
	p.t.Helper()
	var all []cluster.Stored
	for i := range n {
		name := fmt.Sprintf("existing-%d", i)
		uid := name + "-" + p.namespace
		all = append(all, cluster.Stored{Key: "configmaps/" + p.namespace + "/" + name, Manifest: []byte(manifest(p.t, body{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": body{"name": name, "namespace": p.namespace, "uid": uid,
				"creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": []owner{o}}}))})
		p.victims = append(p.victims, victim{p.at("configmaps", name), uid, []owner{o}})
	}
	if err := p.Store(all); err != nil {
		p.t.Fatal(err)
	}
}

// dependents makes new dependents, which are looked at because their reference
// names another version than the owner was observed in.
func (p *peril) dependents(n int, name string, o owner) {
	p.t.Helper()
	for i := range n {
		var d owner
		p.judged(func() { d = p.dependent(fmt.Sprintf("%s-%d", name, i), 1, o) })
		if p.g != nil {
			p.until(d.Name+" is looked at", func() bool { return p.g.looked(d.UID) > 0 })
		}
	}
}

// second makes a second owner.
func (p *peril) second(name string) owner {
	p.t.Helper()
	uid := p.post(p.at("secrets"), body{"metadata": body{"name": name}})
	return owner{APIVersion: "v1", Kind: "Secret", Name: name, UID: uid}
}

// waste makes garbage and waits until it is gone: a dependent of an owner that is
// deleted, and one of an owner that never was.
func (p *peril) waste(more ...owner) {
	p.t.Helper()
	o := p.second("wasted")
	owners := append([]owner{o, {APIVersion: "v1", Kind: "Secret", Name: "never", UID: "never"}}, more...)
	for i, o := range owners {
		name := fmt.Sprintf("garbage-%d", i)
		p.configMap(name, o)
		p.garbage = append(p.garbage, p.at("configmaps", name))
	}
	p.remove(p.at("secrets", "wasted"), "Background")
	for _, path := range p.garbage {
		p.until(path+" is collected", func() bool { return p.gone(path) })
	}
}

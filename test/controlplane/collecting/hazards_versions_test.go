package collecting

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// hazards are all rows of spec §3.18: H2, a version is not served any more,
// then H1, an owner comes back.
func hazards() []hazard {
	return append([]hazard{
		{"H2.1", "v1 is not served; nothing else", "kept", func(p *peril) {
			o := p.owner()
			p.dependent("one", 1, o)
			p.begin()
			p.serve(false)
			p.waste(p.nobody("v2"))
		}},
		{"H2.2", "new dependents through v1, of owners of their own", "38 of 38 deleted in 27.5 s", func(p *peril) {
			o := p.owner()
			var others []owner
			for i := range 9 {
				others = append(others, p.through("v1", p.thing(p.things, "v2", "", fmt.Sprintf("%s-%d", p.namespace, i))))
			}
			p.begin()
			p.serve(false)
			p.dependents(1, "new", o)
			for i, o := range others {
				p.dependents(1, fmt.Sprintf("other-%d", i), o)
			}
			p.waste(p.nobody("v2"))
		}},
		{"H2.3", "another owner is deleted", "deleted", func(p *peril) {
			o, other := p.owner(), p.second("other")
			d := p.dependent("existing", 1, o, other)
			p.begin()
			p.serve(false)
			p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, d)
			p.waste(p.nobody("v2"))
		}},
		{"H2.4", "another owner is deleted, a third is solid", "kept, reference removed", func(p *peril) {
			o, other, third := p.owner(), p.second("other"), p.second("third")
			d := p.dependent("existing", 2, o, third, other)
			p.begin()
			p.serve(false)
			p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, d)
			p.waste(p.nobody("v2"))
		}},
		{"H2.5", "new after discovery, the owner was looked for before", "deleted", func(p *peril) {
			o := p.owner()
			p.options.SyncPeriod = time.Second
			p.begin()
			p.serve(false)
			p.dependents(1, "in-the-window", o)
			p.wait("v1 is known not to be served", p.served("v1", false))
			p.dependents(1, "later", o)
			p.waste(p.nobody("v2"))
		}},
		{"H2.6", "new after discovery, the owner was not looked for", "kept", func(p *peril) {
			o := p.owner()
			p.options.SyncPeriod = time.Second
			p.begin()
			p.serve(false)
			p.wait("v1 is known not to be served", p.served("v1", false))
			p.dependents(1, "later", o)
			p.waste(p.nobody("v2"))
		}},
		{"H2.7", "v1 is served again", "three of three deleted", func(p *peril) { servedAgain(p, false) }},
		{"H2.8", "v1 is served again, the garbage collector restarted", "kept", func(p *peril) { servedAgain(p, true) }},
		{"H2.9", "600 dependents; v1 goes while the garbage collector begins", "530 deleted", goesWhileBeginning},
		{"H2.10", "200 dependents; v1 goes before the garbage collector begins", "kept", func(p *peril) {
			o := p.owner()
			p.existing(200, o)
			p.serve(false)
			p.begin()
			p.everyLook(200)
			p.waste(p.nobody("v2"))
		}},
		{"H2.11", "v2 in place of v1, in one update", "deleted, where another owner is deleted", func(p *peril) {
			p.things = definition{group: p.namespaceGroup(), versions: []version{{"v1", true, true}}}
			p.define(p.things)
			o, other := p.thing(p.things, "v1", "", p.namespace), p.second("other")
			p.begin()
			d := p.dependent("existing", 1, o, other)
			p.fence("configmaps")
			p.things.versions = []version{{"v2", true, true}, {"v1", false, false}}
			p.redefine(p.things)
			p.until("v1 is not served", func() bool { return p.gone(p.things.root("v1", "")) })
			p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, d)
			p.dependent("new-v1", 1, o)
			p.dependent("new-v2", 1, p.through("v2", o))
			p.fence("configmaps")
			p.waste()
		}},
	}, returns()...)
}

func (p *peril) namespaceGroup() string {
	return strings.ReplaceAll(p.namespace, "testhazards-", "") + ".example.com"
}

// owner makes a kind with two versions, of which v2 is preferred and stored, and
// an object of it, to which the dependents refer through v1.
func (p *peril) owner() owner {
	p.t.Helper()
	p.things = definition{group: p.namespaceGroup(), versions: []version{{"v1", true, false}, {"v2", true, true}}}
	p.define(p.things)
	return p.through("v1", p.thing(p.things, "v2", "", p.namespace))
}

// through is a reference that names another version.
func (p *peril) through(version string, o owner) owner {
	o.APIVersion = p.things.group + "/" + version
	return o
}

// nobody is a reference to a thing that never was.
func (p *peril) nobody(version string) owner {
	return owner{APIVersion: p.things.group + "/" + version, Kind: "Thing", Name: "nobody", UID: "nobody"}
}

// serve has v1 served or not, and waits until the server does as it is told.
func (p *peril) serve(v1 bool) {
	p.t.Helper()
	p.things.versions[0].served = v1
	p.redefine(p.things)
	p.until("v1 is served or not", func() bool {
		_, err := p.ask(http.MethodGet, p.things.root("v1", ""), "", "")
		return (err == nil) == v1
	})
}

// served reports whether a collector knows that a version is served, or not.
func (p *peril) served(version string, want bool) func(engine.API) bool {
	return func(api engine.API) bool {
		_, err := api.Resource(p.things.group+"/"+version, "Thing")
		_, unknown := errors.AsType[*object.UnknownKindError](err)
		return want && err == nil || !want && unknown
	}
}

// everyLook waits until the first dependents were looked at.
func (p *peril) everyLook(n int) {
	p.t.Helper()
	if p.g == nil {
		p.dwell(theirLook)
		return
	}
	p.until("all dependents are looked at", func() bool {
		for _, v := range p.victims[:n] {
			if p.g.looked(v.uid) == 0 {
				return false
			}
		}
		return true
	})
}

func servedAgain(p *peril, restart bool) {
	p.t.Helper()
	o, other := p.owner(), p.second("other")
	existing := p.dependent("existing", 1, o, other)
	alone := p.dependent("alone", 1, o)
	p.options.SyncPeriod = time.Second
	p.begin()
	p.serve(false)
	p.dependents(1, "in-the-window", o)
	p.wait("v1 is known not to be served", p.served("v1", false))
	p.serve(true)
	if restart {
		p.again()
	}
	p.wait("v1 is known to be served", p.served("v1", true))
	p.dependents(1, "later", o)
	p.judged(func() { p.remove(p.at("secrets", "other"), "Background") }, existing)
	p.judged(func() {
		dangling := owner{APIVersion: "v1", Kind: "Secret", Name: "dangling", UID: "dangling"}
		p.patch(p.at("configmaps", alone.Name), manifest(p.t, body{"metadata": body{"ownerReferences": []owner{o, dangling}}}))
	}, alone)
	p.waste(p.nobody("v2"), p.nobody("v1"))
}

// goesWhileBeginning has the version go when the collector has looked at the first
// of the dependents.
func goesWhileBeginning(p *peril) {
	p.t.Helper()
	o := p.owner()
	p.existing(600, o)
	p.begin()
	p.everyLook(1)
	p.serve(false)
	p.everyLook(600)
	p.fence("configmaps")
	p.waste(p.nobody("v2"))
}

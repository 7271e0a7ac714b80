package collecting

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// The tests that make kinds wait most of the time, and so do it together: several
// collectors serve one control plane then, and each has to cope with the kind that
// cannot be listed.

func single(group string) definition {
	return definition{group: group, namespaced: true, versions: []version{{"v1", true, true}}}
}

func TestCustomResourceCascadingDeletion(t *testing.T) {
	together(t)
	s := share(t)
	d := single("cascading.example.com")
	s.define(d)
	g := s.upstream()
	s.follows(g, d)
	o := s.thing(d, "v1", s.namespace, "owner")
	dependent := s.thing(d, "v1", s.namespace, "dependent", o.blocking())
	s.until("both are known", func() bool { return g.knows(o.UID) && g.knows(dependent.UID) })
	s.remove(d.root("v1", s.namespace, "owner"), "Foreground")
	s.until("the owner is gone", func() bool { return s.gone(d.root("v1", s.namespace, "owner")) })
	if !s.gone(d.root("v1", s.namespace, "dependent")) {
		t.Error("the dependent is left, although it blocks")
	}
}

func TestMixedRelationships(t *testing.T) {
	together(t)
	s := share(t)
	d := single("mixed.example.com")
	s.define(d)
	g := s.upstream()
	s.follows(g, d)
	custom := s.thing(d, "v1", s.namespace, "custom-owner")
	s.configMap("core-dependent", custom)
	core := s.configMap("core-owner")
	dependent := s.thing(d, "v1", s.namespace, "custom-dependent", core)
	s.passed()
	s.until("all are known", func() bool { return g.knows(custom.UID) && g.knows(dependent.UID) })
	s.remove(d.root("v1", s.namespace, "custom-owner"), "Foreground")
	s.remove(s.at("configmaps", "core-owner"), "Foreground")
	for _, path := range []string{d.root("v1", s.namespace, "custom-owner"), s.at("configmaps", "core-dependent"),
		s.at("configmaps", "core-owner"), d.root("v1", s.namespace, "custom-dependent")} {
		s.until(path+" is gone", func() bool { return s.gone(path) })
	}
}

// A kind is deleted with its objects, and comes back under the same name: what
// depended goes each time.
func TestCRDDeletionCascading(t *testing.T) {
	together(t)
	s := share(t)
	g := s.upstream()
	for pass := range 2 {
		d := single("deleted.example.com")
		s.define(d)
		s.follows(g, d)
		o := s.thing(d, "v1", s.namespace, "owner")
		dependent := s.configMap("dependent-"+strconv.Itoa(pass), o)
		s.until("the owner is known", func() bool { return g.knows(o.UID) && g.knows(dependent.UID) })
		s.passed()
		s.remove(d.path(), "Background")
		s.until("the kind is gone", func() bool { return s.gone(d.path()) })
		s.until("the dependent is gone", func() bool { return s.gone(s.at("configmaps", dependent.Name)) })
		s.until("the kind is not followed", func() bool {
			_, followed := g.state(d.group, "things")
			return !followed
		})
	}
}

// The objects of one kind cannot be converted, so that it cannot be listed. What
// has nothing to do with it is collected.
func TestCascadingDeleteOnCRDConversionFailure(t *testing.T) {
	together(t)
	s := share(t)
	d := definition{group: "conversion.example.com", namespaced: true, versions: []version{{"v1", true, true}, {"v2", true, false}}}
	s.define(d)
	s.thing(d, "v1", s.namespace, "stored-as-v1")
	d.conversion = body{"strategy": "Webhook", "webhook": body{
		"clientConfig": body{"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": []string{"v1"}}}
	s.redefine(d)
	t.Cleanup(func() { // or its objects could not be deleted, nor it
		d.conversion = body{"strategy": "None", "webhook": nil}
		s.redefine(d)
	})
	s.until("v2 cannot be listed", func() bool {
		_, err := s.Do(t.Context(), http.MethodGet, d.root("v2", s.namespace), "", nil)
		return cluster.Code(err) == http.StatusInternalServerError || cluster.Code(err) == http.StatusTooManyRequests
	})

	g := s.upstream()
	s.until("the kind is followed, and broken", func() bool {
		state, ok := g.state(d.group, "things")
		return ok && state == kube.Broken
	})
	doomed := s.controller("doomed")
	s.pod("dependent", nil, doomed)
	s.pod("unrelated", nil)
	s.passed()
	s.remove(s.at("replicationcontrollers", "doomed"), "Background")
	s.until("the dependent is gone", func() bool { return s.gone(s.at("pods", "dependent")) })
	if s.gone(s.at("pods", "unrelated")) {
		t.Error("a pod without owners is gone")
	}
}

func TestClusterScopedOwners(t *testing.T) {
	s := share(t)
	s.upstream()
	uid := s.post("/api/v1/persistentvolumes", body{"metadata": body{"name": "owner"}, "spec": body{
		"capacity": body{"storage": "1Gi"}, "accessModes": []string{"ReadWriteMany"}, "hostPath": body{"path": "/tmp"}}})
	volume := owner{APIVersion: "v1", Kind: "PersistentVolume", Name: "owner", UID: uid}
	dependent := s.configMap("dependent", volume)
	s.passed()
	s.stays(s.at("configmaps", "dependent"), dependent.UID, volume)
	s.patch("/api/v1/persistentvolumes/owner", `{"metadata":{"finalizers":null}}`) // which protects volumes, and has no controller here
	s.remove("/api/v1/persistentvolumes/owner", "Foreground")
	s.until("the dependent is gone", func() bool { return s.gone(s.at("configmaps", "dependent")) })
	s.until("the owner is gone", func() bool { return s.gone("/api/v1/persistentvolumes/owner") })
}

func TestCrossNamespaceReferencesWithWatchCache(t *testing.T) { crossNamespace(share(t)) }

func TestCrossNamespaceReferencesWithoutWatchCache(t *testing.T) {
	crossNamespace(own(t, cluster.Cacheless))
}

// crossNamespace has objects refer to an owner in another namespace, and others,
// rightly, in its own; then the collector is started again.
func crossNamespace(s *stage) {
	t := s.t
	t.Helper()
	const valid, invalid = 10, 25
	other := s.space(s.namespace + "-b")
	uid := s.post(place("/api/v1", other, "configmaps"), body{"metadata": body{"name": "owner"}})
	o := owner{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: uid}
	dependents := map[string]string{}
	make := func(i int) {
		name := fmt.Sprintf("valid-%d", i)
		dependents[name] = s.post(place("/api/v1", other, "secrets"), body{"metadata": body{"name": name, "ownerReferences": []owner{o}}})
	}
	check := func() {
		t.Helper()
		for name, uid := range dependents {
			s.stays(place("/api/v1", other, "secrets", name), uid, o)
		}
		s.stays(place("/api/v1", other, "configmaps", "owner"), uid)
	}
	wrong := func(round string) {
		for i := range invalid {
			s.post(s.at("secrets"), body{"metadata": body{"name": fmt.Sprintf("invalid-%s-%d", round, i), "ownerReferences": []owner{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "invalid", UID: uid}, {APIVersion: "v1", Kind: "Pod", Name: "invalid", UID: uid}}}})
		}
	}
	collected := func() {
		t.Helper()
		s.until("the invalid dependents are collected", func() bool { return len(s.list(s.at("secrets"))) == 0 })
		s.passed()
		check()
	}

	g := s.upstream()
	for i := range valid {
		make(i)
	}
	wrong("while-it-runs")
	collected()
	g.end()

	wrong("before-it-starts")
	make(valid)
	s.upstream()
	collected()
	if n := len(s.list(place("/api/v1", other, "secrets"))); n != valid+1 {
		t.Errorf("%d of %d valid dependents are there", n, valid+1)
	}
}

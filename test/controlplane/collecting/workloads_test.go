package collecting

import (
	"fmt"
	"net/http"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	held        = "example.com/held" // a finalizer that only the test takes off
)

// controller makes a ReplicationController, which nobody in this control plane
// makes pods for, and returns a reference to it.
func (s *stage) controller(name string, owners ...owner) owner {
	s.t.Helper()
	uid := s.post(s.at("replicationcontrollers"), body{"metadata": body{"name": name, "ownerReferences": owners}, "spec": body{
		"replicas": 0, "selector": body{"name": name},
		"template": body{"metadata": body{"labels": body{"name": name}}, "spec": podSpec()},
	}})
	return owner{APIVersion: "v1", Kind: "ReplicationController", Name: name, UID: uid}
}

func podSpec() body {
	return body{"containers": []body{{"name": "c", "image": "example.com/i"}}}
}

// pod makes a pod that no node runs, and returns its uid.
func (s *stage) pod(name string, finalizers []string, owners ...owner) string {
	s.t.Helper()
	return s.post(s.at("pods"), body{"metadata": body{"name": name, "finalizers": finalizers, "ownerReferences": owners}, "spec": podSpec()})
}

// configMap makes a config map and returns a reference to it.
func (s *stage) configMap(name string, owners ...owner) owner {
	s.t.Helper()
	uid := s.post(s.at("configmaps"), body{"metadata": body{"name": name, "ownerReferences": owners}})
	return owner{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: uid}
}

// definition is a kind of a group of its own.
type definition struct {
	group      string
	namespaced bool
	versions   []version
	// conversion is the strategy with its settings; nil for none.
	conversion body
}

// version is a version of a kind.
type version struct {
	name            string
	served, storage bool
}

func (d definition) path() string { return definitions + "/things." + d.group }

// root is where the things of a version stand; a namespace is left out when it is
// empty.
func (d definition) root(version, namespace string, name ...string) string {
	root := "/apis/" + d.group + "/" + version
	if namespace != "" {
		return place(root, namespace, "things", name...)
	}
	for _, n := range append([]string{"things"}, name...) {
		root += "/" + n
	}
	return root
}

func (d definition) manifest() body {
	scope := "Cluster"
	if d.namespaced {
		scope = "Namespaced"
	}
	versions := make([]body, len(d.versions))
	for i, v := range d.versions {
		versions[i] = body{"name": v.name, "served": v.served, "storage": v.storage,
			"schema": body{"openAPIV3Schema": body{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
	}
	spec := body{
		"group": d.group, "scope": scope, "versions": versions,
		"names": body{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
	}
	if d.conversion != nil {
		spec["conversion"] = d.conversion
	}
	return body{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": body{"name": "things." + d.group}, "spec": spec}
}

// define creates a kind, waits until it is served and discovered, and has it removed
// in the end.
func (s *stage) define(d definition) {
	s.t.Helper()
	s.post(definitions, d.manifest())
	s.t.Cleanup(func() {
		if _, err := s.ask(http.MethodDelete, d.path(), "", ""); err != nil {
			s.t.Logf("%s: %v", d.path(), err) // a test may have deleted it itself
		}
	})
	var served []string
	for _, v := range d.versions {
		if v.served {
			served = append(served, v.name)
		}
	}
	if err := s.Serves(s.t.Context(), d.group, "things", served...); err != nil {
		s.t.Fatal(err)
	}
}

// redefine changes the kind. Others write its status meanwhile.
func (s *stage) redefine(d definition) {
	s.t.Helper()
	s.unreadable = d.conversion["strategy"] == "Webhook"
	s.patch(d.path(), manifest(s.t, body{"spec": d.manifest()["spec"]}))
}

// thing makes an object of the kind and returns a reference to it.
func (s *stage) thing(d definition, version, namespace, name string, owners ...owner) owner {
	s.t.Helper()
	uid := s.post(d.root(version, namespace), body{"apiVersion": d.group + "/" + version, "kind": "Thing",
		"metadata": body{"name": name, "ownerReferences": owners}})
	return owner{APIVersion: d.group + "/" + version, Kind: "Thing", Name: name, UID: uid}
}

// follows waits until a collector has seen all objects of a kind.
func (s *stage) follows(g watched, d definition) {
	s.t.Helper()
	s.until(fmt.Sprintf("%s is followed", d.group), func() bool {
		state, ok := g.state(d.group, "things")
		return ok && state == kube.Synced
	})
}

package lost

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
)

const foreign = "example.com/hold"

// thing is an object of a drawn state.
type thing struct {
	// number is its place among the things of a state.
	number          int
	kind            kind
	namespace, name string
	owners          []owner
	finalizers      []string
	// group is the value of a label that some have.
	group string
	uid   string
	spec  map[string]any
}

// owner is an owner reference: to another thing, or to none at all.
type owner struct {
	of         *thing
	blocks     bool
	controller bool
}

// kind is a kind of drawn objects.
type kind struct {
	apiVersion, kind, plural string
	namespaced               bool
	weight                   int
}

type object map[string]any

// podSpec is that of pods which nobody runs, for there are no nodes.
var podSpec = object{"containers": []object{{"name": "c", "image": "none"}}, "restartPolicy": "Never"}

// workload is what makes pods of its own.
func workload(name string, replicas int) object {
	labels := object{"app": name}
	spec := object{"containers": podSpec["containers"]}
	return object{"spec": object{
		"replicas": replicas, "selector": object{"matchLabels": labels}, "template": object{"metadata": object{"labels": labels}, "spec": spec},
	}}
}

// specOf is what an object of a kind has besides metadata.
func (s *state) specOf(k kind, name string) object {
	switch k.kind {
	case "Service":
		return object{"spec": object{"ports": []object{{"port": 80}}, "selector": object{"app": name}}}
	case "Pod":
		if s.IntN(2) == 0 {
			return object{"spec": podSpec}
		}
		spec := object{"nodeName": node}
		maps.Copy(spec, podSpec)
		return object{"spec": spec}
	case "PersistentVolumeClaim":
		return object{"spec": object{"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "none", "resources": object{"requests": object{"storage": "1Gi"}}}}
	case "Deployment", "ReplicaSet":
		return workload(name, s.IntN(3))
	case "Job":
		return object{"spec": object{"template": object{"spec": podSpec}}}
	}
	return nil
}

var kinds = []kind{
	{"v1", "ConfigMap", "configmaps", true, 8},
	{"v1", "Secret", "secrets", true, 3},
	{"v1", "ServiceAccount", "serviceaccounts", true, 2},
	{"v1", "Service", "services", true, 2},
	{"v1", "Pod", "pods", true, 2},
	{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, 1},
	{"apps/v1", "Deployment", "deployments", true, 2},
	{"apps/v1", "ReplicaSet", "replicasets", true, 1},
	{"batch/v1", "Job", "jobs", true, 1},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", true, 2},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false, 2},
}

var namespaceKind = kind{"v1", "Namespace", "namespaces", false, 0}

// definitionKind is the definition of a kind of a state's own.
var definitionKind = kind{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false, 0}

// state is a drawn state of a part of the cluster, and what is done to it.
type state struct {
	*rand.Rand
	number int
	// label is what the names of its objects begin with.
	label  string
	things []*thing
	deeds  []*deed
	others int
	// kubectl says that all deletes are commands of it.
	kubectl bool
	// without are the numbers of objects that nobody deletes by hand.
	without map[int]bool
}

// draw is a state by its number: the same one under any label.
func draw(seed uint64, number int, label string) *state {
	s := &state{Rand: rand.New(rand.NewPCG(seed, uint64(number))), number: number, label: label}
	s.kubectl = s.IntN(6) == 0
	namespaces := []string{s.name("a"), s.name("b")}[:1+s.IntN(2)]
	for _, name := range namespaces {
		s.things = append(s.things, &thing{kind: namespaceKind, name: name})
	}
	drawn := kinds
	if s.IntN(8) == 0 {
		k, definition := s.definition()
		s.things = append(s.things, definition)
		drawn = append([]kind{k}, kinds...)
	}
	for range 4 + s.IntN(14) {
		s.add(drawn, namespaces)
	}
	for i, t := range s.things {
		t.number = i
	}
	s.drawDeeds()
	s.others = s.IntN(6)
	return s
}

func (s *state) name(text string) string { return s.label + "-" + text }

// definition is a kind that only this state has.
func (s *state) definition() (kind, *thing) {
	group := s.label + ".example.com"
	spec := object{"spec": object{
		"group": group, "scope": "Namespaced", "names": object{"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
		"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{"type": "object"}}}},
	}}
	return kind{group + "/v1", "Widget", "widgets", true, 8}, &thing{kind: definitionKind, name: "widgets." + group, spec: spec}
}

func (s *state) add(drawn []kind, namespaces []string) {
	n := 0
	for _, k := range drawn {
		n += k.weight
	}
	n = s.IntN(n)
	i := 0
	for ; n >= drawn[i].weight; i++ {
		n -= drawn[i].weight
	}
	t := &thing{kind: drawn[i], name: s.name(fmt.Sprintf("o%d", len(s.things)))}
	t.spec = s.specOf(t.kind, t.name)
	if t.kind.namespaced {
		t.namespace = namespaces[s.IntN(len(namespaces))]
	}
	t.group = []string{"", "x", "y"}[s.IntN(3)]
	if s.IntN(10) == 0 {
		t.finalizers = append(t.finalizers, foreign)
	}
	if s.IntN(20) == 0 {
		t.finalizers = append(t.finalizers, []string{"orphan", "foregroundDeletion"}[s.IntN(2)])
	}
	controlled := false
	for range []int{0, 0, 1, 1, 1, 2}[s.IntN(6)] {
		var fitting []*thing
		for _, o := range s.things {
			if (o.namespace == "" || o.namespace == t.namespace) && !t.has(o) {
				fitting = append(fitting, o)
			}
		}
		if len(fitting) > 0 {
			w := owner{of: fitting[s.IntN(len(fitting))], blocks: s.IntN(2) == 0, controller: !controlled && s.IntN(8) == 0}
			controlled = controlled || w.controller
			t.owners = append(t.owners, w)
		}
	}
	s.things = append(s.things, t)
}

func (t *thing) has(o *thing) bool {
	for _, w := range t.owners {
		if w.of == o {
			return true
		}
	}
	return false
}

// collection is the path of the objects of a kind.
func (t *thing) collection() string {
	path := "/apis/" + t.kind.apiVersion
	if !strings.Contains(t.kind.apiVersion, "/") {
		path = "/api/" + t.kind.apiVersion
	}
	if t.namespace != "" {
		path += "/namespaces/" + t.namespace
	}
	return path + "/" + t.kind.plural
}

func (t *thing) path() string { return t.collection() + "/" + t.name }

// manifest is the object, owned by what has been made before.
func (t *thing) manifest() object {
	metadata := object{"name": t.name, "finalizers": t.finalizers, "ownerReferences": references(t.owners)}
	if t.group != "" {
		metadata["labels"] = object{"group": t.group}
	}
	o := object{"apiVersion": t.kind.apiVersion, "kind": t.kind.kind, "metadata": metadata}
	maps.Copy(o, t.spec)
	return o
}

// references are owners as an object refers to them.
func references(owners []owner) []object {
	var refs []object
	for _, w := range owners {
		refs = append(refs, object{
			"apiVersion": w.of.kind.apiVersion, "kind": w.of.kind.kind, "name": w.of.name, "uid": w.of.uid,
			"blockOwnerDeletion": w.blocks, "controller": w.controller,
		})
	}
	return refs
}

package deployers

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// world is a namespace with a Kustomization, what it has applied, and what has to do with that.
type world struct {
	*rand.Rand
	namespace string
	// objects are in the order in which they are created. Owners come before their dependents.
	objects []*unstructured.Unstructured
	// owners has for each of them its owner; nil for none.
	owners []*unstructured.Unstructured
	// from is the Kustomization that is deleted.
	from *unstructured.Unstructured
}

var claimKind = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}

var drawnKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ServiceAccount"},
	claimKind, {Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	kustomizationKind,
}

// draw returns the world of a seed in a namespace.
func draw(seed uint64, namespace string) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 0)), namespace: namespace}
	w.from = w.kustomization("app", fluxFinalizer)
	for i := range 3 + w.IntN(8) {
		w.add(i)
	}
	w.fill(w.from)
	return w
}

// one is true once in n draws.
func (w *world) one(n int) bool { return w.IntN(n) == 0 }

func (w *world) add(i int) {
	o := w.object(drawnKinds[w.IntN(len(drawnKinds))], fmt.Sprintf("o%d", i))
	if o.GroupVersionKind() == kustomizationKind {
		o = w.kustomization(o.GetName(), fluxFinalizer)
		w.fill(o)
	}
	w.mark(o)
	if w.one(6) {
		o.SetFinalizers(append(o.GetFinalizers(), "example.com/lock"))
	}
	var owner *unstructured.Unstructured
	if len(w.objects) > 0 && w.one(3) {
		owner = w.objects[w.IntN(len(w.objects))]
	}
	if owner != nil && o.GetNamespace() == "" && owner.GetNamespace() != "" {
		owner = nil
	}
	w.objects, w.owners = append(w.objects, o), append(w.owners, owner)
}

// mark draws the labels and annotations that Flux looks at.
func (w *world) mark(o *unstructured.Unstructured) {
	labels, annotations := map[string]string{}, map[string]string{}
	if !w.one(6) {
		labels[fluxGroup+"/name"], labels[fluxGroup+"/namespace"] = "app", w.namespace
	}
	if w.one(12) {
		labels[fluxGroup+"/namespace"] = "elsewhere"
	}
	if w.one(4) {
		key := []string{"/prune", "/reconcile", "/ssa"}[w.IntN(3)]
		value := []string{"disabled", "Disabled", "enabled", "Ignore", "ignore"}[w.IntN(5)]
		if w.one(2) {
			labels[fluxGroup+key] = value
		} else {
			annotations[fluxGroup+key] = value
		}
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

func (w *world) object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kind)
	o.SetName(name)
	o.SetNamespace(w.namespace)
	pods := map[string]any{
		"replicas": int64(0), "selector": map[string]any{"matchLabels": map[string]any{"app": name}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": name}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "x"}}},
		},
	}
	switch kind.Kind {
	case "ClusterRole":
		o.SetNamespace("")
		o.SetName(w.namespace + ":" + name) // the inventory writes the colon as two underscores
	case "Deployment", "ReplicaSet":
		o.Object["spec"] = pods
	case "PersistentVolumeClaim":
		o.Object["spec"] = map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none",
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}
	}
	return o
}

func (w *world) kustomization(name string, finalizers ...string) *unstructured.Unstructured {
	o := w.object(kustomizationKind, name)
	spec := map[string]any{"prune": !w.one(5), "interval": "10m", "sourceRef": map[string]any{"kind": "GitRepository", "name": "none"}}
	if w.one(8) {
		spec["suspend"] = true
	}
	if w.one(3) {
		spec["deletionPolicy"] = []any{"MirrorPrune", "Delete", "WaitForTermination", "Orphan"}[w.IntN(4)]
	}
	o.Object["spec"] = spec
	o.SetFinalizers(finalizers)
	return o
}

// fill draws an inventory of the objects so far. Now and then an entry names what does not exist, what is not
// served, or nothing.
func (w *world) fill(from *unstructured.Unstructured) {
	entries := []any{}
	for _, o := range w.objects {
		if !w.one(4) {
			entries = append(entries, entryOf(o))
		}
	}
	for _, odd := range []map[string]any{
		{"id": w.namespace + "_gone__ConfigMap", "v": "v1"}, {"id": w.namespace + "_odd_unserved.example.com_Odd", "v": "v1"},
		{"id": w.namespace + "_old_apps_Deployment", "v": "v1beta1"}, {"id": "odd", "v": "v1"},
	} {
		if w.one(12) {
			entries = append(entries, odd)
		}
	}
	if len(entries) > 0 && w.one(12) {
		entries[0].(map[string]any)["v"] = "v0"
	}
	w.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	if !w.one(12) {
		from.Object["status"] = map[string]any{"inventory": map[string]any{"entries": entries}}
	}
}

func entryOf(o *unstructured.Unstructured) map[string]any {
	kind := o.GroupVersionKind()
	return map[string]any{
		"id": strings.Join([]string{o.GetNamespace(), strings.ReplaceAll(o.GetName(), ":", "__"), kind.Group, kind.Kind}, "_"),
		"v":  kind.Version,
	}
}

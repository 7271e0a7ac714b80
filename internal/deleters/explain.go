package deleters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Explain says why an object exists, is being deleted or is stuck, as far as the watches have shown
// it: one line for each fact, the verdict first. An object that they do not show is requested from
// the server, which needs kind and name.
func (d *Deleters) Explain(ctx context.Context, ref object.Ref) string {
	text := d.explain(ctx, ref)
	for i, line := range text {
		text[i] = plain(line)
	}
	return strings.Join(text, "\n")
}

// explain returns the lines of Explain.
func (d *Deleters) explain(ctx context.Context, ref object.Ref) []string {
	switch r, err := d.client.Resource(ref.APIVersion, ref.Kind); {
	case ref.UID == "" && ref.Name == "":
		return []string{"which object? It has neither a uid nor a name."}
	case ref.Kind != "" && ref.APIVersion == "":
		if ref.UID == "" {
			return []string{fmt.Sprintf("which object? %s %q has no apiVersion.", ref.Kind, nameIn(ref))}
		}
		ref.Kind = "" // its uid may identify it
	case err != nil && ref.Kind != "" && ref.UID == "":
		return []string{ref.String() + " was not seen: " + err.Error()}
	case err != nil: // its uid may identify it
	case !r.Namespaced:
		ref.Namespace = ""
	case ref.UID == "" && ref.Namespace == "":
		return []string{fmt.Sprintf("which object? %s %s %q has no namespace, and the kind is namespaced.", ref.APIVersion, ref.Kind, ref.Name)}
	}
	shown := d.store.all(func(o *object.Object) bool {
		if ref.UID != "" {
			return o.UID == ref.UID
		}
		return o.Group() == ref.Group() && o.Kind == ref.Kind && o.Namespace == ref.Namespace && o.Name == ref.Name
	})
	if len(shown) == 0 {
		return []string{d.explainMissing(ctx, ref)}
	}
	o := shown[0]
	content := ""
	if o.Is(object.Namespace) {
		content = o.Name
	}
	snap, err := d.snapshot(ctx, content)
	if err != nil {
		return []string{o.Ref.String() + " cannot be explained: " + err.Error()}
	}
	e, err := explain.Object(ctx, snap, o.Ref, explain.Options{})
	if err != nil {
		return []string{o.Ref.String() + " cannot be explained: " + err.Error()}
	}
	list := d.lines(o, e)
	for _, why := range d.failed(ctx, o.UID) {
		list = append(list, "  the last try failed: "+why)
	}
	return list
}

// explainMissing says whether an object that no watch shows exists. Without a kind the object is
// found by its uid if the watches have shown its deletion.
func (d *Deleters) explainMissing(ctx context.Context, ref object.Ref) string {
	if ref.Kind == "" {
		gone, known := d.store.departed(ref.UID)
		if !known {
			return fmt.Sprintf("an object of an unknown kind, name %q, uid %q: no watch has shown it. Say its apiVersion and kind.", nameIn(ref), ref.UID)
		}
		ref = gone
	}
	switch o, err := d.client.Get(ctx, ref); {
	case apierrors.IsNotFound(err):
		return ref.String() + " is not there."
	case err != nil:
		return ref.String() + " was not seen: " + err.Error()
	case ref.UID != "" && o.UID != ref.UID:
		return ref.String() + " is not there: an object with the uid " + string(o.UID) + " has its name."
	default:
		return o.Ref.String() + " is there" + d.unshown(o.Ref)
	}
}

// unshown says why no watch shows an existing object.
func (d *Deleters) unshown(ref object.Ref) string {
	r, err := d.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return "."
	}
	w := coverage{d}.world()
	if _, never := w.unwatched(r.GroupResource()); never {
		return ". The garbage collector does not watch " + r.GroupResource().String() + ", so it never collects them."
	}
	if why := w.Why(r, ""); why != "" {
		return ", and no watch shows it: " + why
	}
	return ", and no watch has shown it yet."
}

// nameIn returns the name of an object with its namespace.
func nameIn(ref object.Ref) string {
	return strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
}

// snapshot returns the state that the watches have shown. If namespace is not empty, it includes
// that namespace's objects of unwatched kinds, such as events.
func (d *Deleters) snapshot(ctx context.Context, namespace string) (*snapshot.Snapshot, error) {
	discovered := d.client.Discovered()
	coverage := &snapshot.Coverage{}
	objects := d.store.all(everything)
	for i, o := range objects {
		objects[i] = o.Clone() // a snapshot owns its objects, and these belong to the collector too
	}
	if namespace != "" {
		objects = append(objects, d.unwatched(ctx, namespace, coverage)...)
	}
	for _, k := range d.feed.Kinds() {
		if gr := k.Resource.GroupResource(); k.State == kube.Synced {
			coverage.Add(gr, "")
		} else {
			coverage.Fail(gr, "", reason.ListFailed, k.Why)
		}
	}
	return snapshot.Listed(objects, discovered.Resources, discovered.Missing, coverage,
		snapshot.Source{KubernetesVersion: d.version, Server: "the API server"})
}

// unwatched reads the objects of a namespace that no watch shows.
func (d *Deleters) unwatched(ctx context.Context, namespace string, coverage *snapshot.Coverage) []*object.Object {
	w := &world{ctx: ctx, client: d.client, feed: d.feed, store: d.store}
	var objects []*object.Object
	for _, r := range w.Resources().All() {
		gr := r.GroupResource()
		if _, moved := w.Resources().Preferred(object.Storage(gr)); moved && object.Storage(gr) != gr {
			coverage.Add(gr, namespace) // under its other name
			continue
		}
		if _, ok := w.unwatched(gr); !ok || !r.Namespaced {
			continue
		}
		var found []*object.Object
		if err := w.read(r, namespace, func(o *object.Object) { found = append(found, o) }); err != nil {
			coverage.Fail(gr, namespace, reason.ListFailed, err.Error())
			continue
		}
		coverage.Add(gr, namespace)
		objects = append(objects, found...)
	}
	return objects
}

// phrases has the text of each verdict.
var phrases = map[report.Verdict]string{
	report.Live: "stays", report.Garbage: "is garbage", report.BeingDeleted: "is being deleted",
	report.WaitingForDependents: "is being deleted and waits for its dependents",
	report.HeldByFinalizer:      "is being deleted and held by a finalizer", report.Undecidable: "cannot be decided",
}

// mostNamed is how many objects are named at most.
const mostNamed = 10

// lines returns the description of an object.
func (d *Deleters) lines(o *object.Object, e *report.Explanation) []string {
	list := []string{o.Ref.String() + " " + d.verdict(o, e)}
	if len(o.Finalizers()) > 0 {
		list = append(list, "  finalizers: "+strings.Join(o.Finalizers(), ", "))
	}
	for _, owner := range e.Owners {
		line := "  owner " + object.Ref(owner.Ref).String() + ": " + strings.ToLower(string(owner.Class))
		if owner.Evidence != "" {
			line += " (" + owner.Evidence + ")"
		}
		list = append(list, line)
	}
	list = append(list, d.dependents(e)...)
	for _, w := range d.stands().waits {
		if w.Object.UID == o.UID {
			list = append(list, "  "+d.sentence(w))
		}
	}
	if e.Deadlock != nil {
		list = append(list, "  deadlock: "+e.Deadlock.Message)
	}
	if e.Next != "" {
		list = append(list, "  the garbage collector sends next: "+e.Next)
	}
	return list
}

// dependents describes the dependents that a waiting object waits for, and what blocks them. For
// any other object it describes all dependents.
func (d *Deleters) dependents(e *report.Explanation) []string {
	of := slices.DeleteFunc(slices.Clone(e.Dependents), func(f report.DependentFinding) bool {
		return e.Verdict == report.WaitingForDependents && !f.Blocking
	})
	var list []string
	for i, f := range of {
		if i == mostNamed {
			return append(list, fmt.Sprintf("  and %d more dependents", len(of)-i))
		}
		held := ""
		if leaving := d.store.all(func(o *object.Object) bool { return o.UID == f.Ref.UID && o.BeingDeleted() }); len(leaving) > 0 {
			held = " is being deleted" + d.holds(leaving[0])
		}
		list = append(list, "  dependent "+object.Ref(f.Ref).String()+held)
	}
	return list
}

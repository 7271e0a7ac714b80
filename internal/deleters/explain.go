package deleters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
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
		text[i] = terminalSafe(line)
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
	shown := d.shown(ref)
	if len(shown) == 0 {
		return []string{d.explainMissing(ctx, ref)}
	}
	o := shown[0]
	if len(d.existing(ctx, []object.Ref{o.Ref})) == 0 { // the watches are behind
		ref.APIVersion, ref.Kind, ref.Namespace, ref.Name = o.APIVersion, o.Kind, o.Namespace, o.Name
		return []string{d.explainMissing(ctx, ref)}
	}
	content := ""
	if o.Is(object.Namespace) {
		content = o.Name
	}
	snap, err := d.snapshot(ctx, content)
	if err != nil {
		return []string{o.Ref.String() + " cannot be explained: " + err.Error()}
	}
	e, err := diagnose.Explain(ctx, snap, o.Ref, diagnose.ExplanationOptions{NoManager: true})
	if err != nil {
		return []string{o.Ref.String() + " cannot be explained: " + err.Error()}
	}
	list := d.lines(o, e)
	for _, why := range d.deferredErrors(ctx, o.UID) {
		list = append(list, "  the last try failed: "+why)
	}
	return list
}

// shown returns the objects of a uid, or else of these coordinates, that the watches show.
func (d *Deleters) shown(ref object.Ref) []*object.Object {
	return d.store.all(func(o *object.Object) bool {
		if ref.UID != "" {
			return o.UID == ref.UID
		}
		return o.Group() == ref.Group() && o.Kind == ref.Kind && o.Namespace == ref.Namespace && o.Name == ref.Name
	})
}

// explainMissing says whether an object that no watch shows exists. Without a kind the object is
// found by its uid if the watches have shown its deletion.
func (d *Deleters) explainMissing(ctx context.Context, ref object.Ref) string {
	if ref.Kind == "" {
		gone, known := d.store.deletedRef(ref.UID)
		if deleted, ours := d.deletes.find(ref); !known && ours {
			gone, known = deleted.ref, true
		}
		if !known {
			return fmt.Sprintf("an object of an unknown kind, name %q, uid %q: no watch has shown it. Say its apiVersion and kind.", nameIn(ref), ref.UID)
		}
		ref = gone
	}
	switch o, err := d.client.Get(ctx, ref); {
	case apierrors.IsNotFound(err):
		return ref.String() + " is not there" + d.explainGone(ctx, ref) + "."
	case err != nil:
		return ref.String() + " was not seen: " + err.Error()
	case ref.UID != "" && o.UID != ref.UID:
		return ref.String() + " is not there" + d.explainGone(ctx, ref) + ". An object with the uid " + string(o.UID) + " has its name."
	default:
		return o.Ref.String() + " is there" + d.whyNotWatched(o.Ref)
	}
}

// explainGone says when and why an object was deleted here; "" if it was deleted by others. A delete is
// recorded when its attempt has ended, which may be after the object has gone.
func (d *Deleters) explainGone(ctx context.Context, ref object.Ref) string {
	deleted, ours := d.deletes.find(ref)
	if !ours {
		d.awaitAttempts(ctx)
		deleted, ours = d.deletes.find(ref)
	}
	if !ours {
		return ""
	}
	return ": " + deleted.String()
}

// awaitAttempts waits until no attempt of the collector is in progress, and no longer than
// accountTimeout.
func (d *Deleters) awaitAttempts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	for busy := true; busy && ctx.Err() == nil; {
		if err := d.betweenSteps(ctx, func(c *engine.Collector) { busy = c.UnderWay() > 0 }); err != nil {
			return
		}
		if busy {
			select {
			case <-time.After(firstPause):
			case <-ctx.Done():
			}
		}
	}
}

// whyNotWatched says why no watch shows an existing object.
func (d *Deleters) whyNotWatched(ref object.Ref) string {
	r, err := d.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return "."
	}
	w := &world{ctx: d.ctx, client: d.client, feed: d.feed, store: d.store}
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
		objects = append(objects, d.readUnwatched(ctx, namespace, coverage)...)
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

// readUnwatched reads the objects of a namespace that no watch shows.
func (d *Deleters) readUnwatched(ctx context.Context, namespace string, coverage *snapshot.Coverage) []*object.Object {
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

// verdictTexts has the text of each verdict.
var verdictTexts = map[report.Verdict]string{
	report.Live: "stays", report.Garbage: "is garbage", report.BeingDeleted: "is being deleted",
	report.WaitingForDependents: "is being deleted and waits for its dependents",
	report.HeldByFinalizer:      "is being deleted and held by a finalizer", report.Undecidable: "cannot be decided",
}

// maxNamed is how many objects are named at most.
const maxNamed = 10

// lines returns the description of an object.
func (d *Deleters) lines(o *object.Object, e *report.Explanation) []string {
	list := []string{o.Ref.String() + " " + d.verdict(o, e)}
	if len(o.Finalizers()) > 0 {
		list = append(list, "  finalizers: "+strings.Join(o.Finalizers(), ", "))
	}
	for _, owner := range e.Owners {
		line := "  owner " + owner.Ref.String() + ": " + strings.ToLower(string(owner.Class))
		if owner.Evidence != "" {
			line += " (" + owner.Evidence + ")"
		}
		list = append(list, line)
	}
	list = append(list, d.dependents(e)...)
	for _, w := range d.lastWaits().waits {
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
		if i == maxNamed {
			return append(list, fmt.Sprintf("  and %d more dependents", len(of)-i))
		}
		held := ""
		if leaving := d.store.all(func(o *object.Object) bool { return o.UID == f.Ref.UID && o.BeingDeleted() }); len(leaving) > 0 {
			held = " is being deleted" + d.blockedBy(leaving[0])
		}
		list = append(list, "  dependent "+f.Ref.String()+held)
	}
	return list
}

// The finalizers of a controller that runs here only if Options.Protection is set.
const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
)

// sentence describes what an object waits for, without its name.
func (d *Deleters) sentence(w controllers.Wait) string {
	what, names := w.Resource.GroupResource().String(), remaining(w)
	with := strings.TrimSpace(what + " " + names)
	switch w.Reason {
	case controllers.ContentRemains, controllers.InstancesRemain:
		if f := finalizers(w); f != "" {
			return "waits for " + with + " (finalizers " + f + ")"
		}
		return "waits for " + with
	case controllers.PodsRemain:
		return "waits for " + with + ", which go before everything else"
	case controllers.TokensRemain:
		return "its spec.finalizers has " + finalizers(w) + ", which another controller must remove"
	case controllers.DiscoveryFails:
		apiVersion, why, _ := strings.Cut(w.Why, ": ")
		return d.undescribedVersion(apiVersion, why)
	case controllers.Refused:
		if names != "" {
			return with + " cannot be deleted: " + w.Why
		}
		return "the last try failed: " + w.Why
	case controllers.NotServed:
		return "has objects of a kind that the API server does not serve: " + names
	case controllers.ClaimInUse:
		return "is used by " + with
	case controllers.VolumeBound:
		return "is bound to " + with
	default:
		return cmp.Or(w.Why, "it is unknown which objects exist of "+what)
	}
}

// remaining returns the names of the blocking objects.
func remaining(w controllers.Wait) string {
	var names []string
	for _, r := range w.Remaining {
		if r.Namespace == "" || r.Namespace == w.Object.Namespace || w.Object.Kind == object.Namespace.Kind {
			names = append(names, r.Name)
		} else {
			names = append(names, r.Namespace+"/"+r.Name)
		}
	}
	return strings.Join(truncate(names), ", ")
}

func finalizers(w controllers.Wait) string {
	names := object.Mapped(w.Finalizers, func(f controllers.FinalizerCount) string { return f.Name })
	return strings.Join(names, ", ")
}

// externalWait says what outside of this program an object that is being deleted waits for, or when
// it ends. There are no kubelets and only a few controllers here. It returns "" if nothing is
// known.
func (d *Deleters) externalWait(o *object.Object) string {
	holds := func(k object.Kind, finalizer string) bool { return o.Is(k) && o.HasFinalizer(finalizer) }
	grace := o.GracePeriod()
	switch {
	case !d.options.Protection && d.others.manager == nil && (holds(object.PVC, claimProtection) || holds(object.PV, volumeProtection)):
		finalizer := claimProtection
		if o.Is(object.PV) {
			finalizer = volumeProtection
		}
		return "no controller removes " + finalizer + ": use " + cmp.Or(d.options.AskProtection, "claim protection")
	case holds(object.CRD, controllers.DefinitionCleanup):
		return "the API server deletes its instances, and it is deleted once they are gone"
	case !o.Is(object.Pod) || grace != nil && *grace == 0 && len(o.Finalizers()) > 0:
		return ""
	case d.others.inUse() != nil:
		return "its kubelet has to end it"
	case d.options.Pods == Never:
		return "there is no kubelet: the test has to delete it with a grace period of 0"
	case d.options.Pods == AfterDuration:
		return "it ends " + d.options.PodsAfter.String() + " after it was deleted"
	case d.options.Pods == AfterGracePeriod:
		return "it ends at " + gracePeriodEnd(o).UTC().Format(time.RFC3339) + ", when its grace period is over"
	}
	return ""
}

// verdict describes the outcome for an object. It drops a plan's assumptions about a cluster, such
// as that its controllers run, because they do not hold here.
func (d *Deleters) verdict(o *object.Object, e *report.Explanation) string {
	const assumed = "goes if "
	said, why := verdictTexts[e.Verdict], e.Message
	if o.BeingDeleted() && e.Verdict != report.WaitingForDependents {
		stays := d.externalWait(o)
		switch {
		case stays != "":
			why = stays
		case o.Is(object.Namespace):
			why = ""
		case strings.HasPrefix(why, assumed) && len(o.Finalizers()) > 0:
			why = strings.Join(o.Finalizers(), ", ") + " must be removed, and nothing here removes it"
		case strings.HasPrefix(why, assumed):
			why = ""
		}
		if stays != "" && len(o.Finalizers()) > 0 {
			said = verdictTexts[report.HeldByFinalizer]
		}
	}
	if why != "" {
		said += ": " + why
	}
	return said + "."
}

// canEnd reports whether this program may end a wait.
func (s waitState) canEnd(w controllers.Wait) bool {
	return slices.ContainsFunc(s.open, func(o controllers.Wait) bool {
		return o.Object == w.Object && o.Reason == w.Reason && o.Resource.GroupResource() == w.Resource.GroupResource() && o.Why == w.Why
	})
}

// maxItems is how many items of a list are printed.
const maxItems = 5

// truncate shortens a long list.
func truncate(list []string) []string {
	if n := len(list); n > maxItems {
		return append(list[:maxItems:maxItems], fmt.Sprintf("and %d more", n-maxItems))
	}
	return list
}

// unique removes duplicates.
func unique(list []string) []string {
	said := map[string]bool{}
	return slices.DeleteFunc(list, func(line string) bool {
		again := said[line]
		said[line] = true
		return again
	})
}

// terminalSafe returns a line that is safe for a terminal. The kinds and names of owners and the
// messages of webhooks are free text, which may contain line breaks and escape sequences.
func terminalSafe(line string) string {
	var b strings.Builder
	for _, r := range line {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

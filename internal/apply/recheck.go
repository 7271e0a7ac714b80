package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// recheck reads the metadata of all affected objects again, right before the first write. It
// returns an error if the cluster would now delete something else than planned: an object got
// protected or has other finalizers or owners, or more objects would be affected. Deletions by the
// cluster carry no precondition, so this is the last moment to notice such a change.
//
//	plan: cm/owner → cm/below        question open: cm/below is annotated        recheck: refused
//
// Objects of our own requests are left out, except for targets of a delete: each request is judged
// by itself right before it is sent.
func (r *run) recheck(ctx context.Context) error {
	if _, err := r.client.Discover(ctx); err != nil { // a kind may be new
		return fmt.Errorf("objects to be deleted cannot be read again: %w", err)
	}
	a := r.indexConsequences()
	places, err := a.listPlaces()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var changes []string
	err = forEach(ctx, len(places), func(ctx context.Context, i int) error {
		var found []*object.Object
		_, err := r.client.List(ctx, places[i], kube.Selection{Metadata: !a.needsFacts(places[i].Resource)}, kube.Listing{
			Object:  func(o *object.Object) error { found = append(found, o); return nil },
			Restart: func() { found = found[:0] },
		})
		if err != nil {
			return fmt.Errorf("objects to be deleted cannot be read again: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, o := range found {
			if change := a.change(o); change != "" {
				changes = append(changes, change)
			}
		}
		return nil
	})
	if err != nil || len(changes) == 0 {
		return err
	}
	const most = 5
	slices.Sort(changes)
	if n := len(changes); n > most {
		changes = append(changes[:most], fmt.Sprintf("and %d more", n-most))
	}
	return errors.New("since the plan was made, " + strings.Join(changes, "; ") + ". Make the plan again")
}

// consequenceIndex indexes the predicted consequences of a run for the comparison with listed
// objects.
type consequenceIndex struct {
	*run
	// compared holds the consequences that are compared.
	compared map[types.UID]*report.Effect
	// deleted are the UIDs of objects that will be deleted. namespaces and definitions are the names
	// of the namespaces and CRDs among them, which take their content with them.
	deleted                 map[types.UID]bool
	namespaces, definitions map[string]bool
	// owners are the coordinates of the same objects: some take others without an owner reference.
	owners map[object.Coordinates]bool
	// nodes reports that a Node is deleted, and claims that a PersistentVolumeClaim is.
	nodes, claims bool
	// dependentNamespaces are the namespaces that can contain dependents of the affected objects.
	// anywhere reports that a cluster-scoped object is affected, so its dependents can be in any
	// namespace.
	dependentNamespaces map[string]bool
	anywhere            bool
}

// indexConsequences indexes the consequences of the plan. The objects of our own requests are not
// judged, except for the targets of a delete.
func (r *run) indexConsequences() *consequenceIndex {
	a := &consequenceIndex{
		run: r, compared: map[types.UID]*report.Effect{}, deleted: map[types.UID]bool{},
		namespaces: map[string]bool{}, definitions: map[string]bool{}, dependentNamespaces: map[string]bool{}, owners: map[object.Coordinates]bool{},
	}
	ours := map[object.Ref]bool{}
	if r.result.Plan.Seed.Verb != string(plan.Delete) {
		for _, ref := range r.written() {
			ours[ref] = true
		}
	}
	for e := range r.result.Plan.Account() {
		ref := e.Object
		if !ours[ref] {
			a.compared[ref.UID] = e
		}
		if !e.IsDeleted() {
			continue
		}
		a.deleted[ref.UID], a.owners[ref.Coordinates()] = true, true
		a.nodes, a.claims = a.nodes || ref.Is(object.Node), a.claims || ref.Is(object.PVC)
		switch seen := r.plannedObject(ref); {
		case ref.Is(object.Namespace):
			a.namespaces[ref.Name], a.dependentNamespaces[ref.Name] = true, true
		case ref.Is(object.CRD):
			a.definitions[ref.Name] = true
		case seen != nil && (seen.IsServiceAddress() || seen.RegisteredForCRDs()): // the API server's own
		case ref.Namespace == "":
			a.anywhere = true
		default:
			a.dependentNamespaces[ref.Namespace] = true
		}
	}
	return a
}

// listPlaces returns the lists that recheck reads, one for each kind and namespace: those of
// affected objects, and all kinds of the namespaces that can contain dependents. Lists that the
// plan did not read are left out, unless their kind is new.
func (a *consequenceIndex) listPlaces() ([]kube.Place, error) {
	type at struct{ apiVersion, name, namespace string }
	wanted := map[at]kube.Place{}
	known := map[schema.GroupResource]bool{}
	for _, r := range a.snap.Resources.All() {
		known[r.GroupResource()] = true
	}
	add := func(r object.Resource, namespace string) {
		if !r.Namespaced {
			namespace = ""
		}
		if a.snap.Covers(r, namespace) || !known[r.GroupResource()] {
			wanted[at{r.APIVersion(), r.Name, namespace}] = kube.Place{Resource: r, Namespace: namespace}
		}
	}
	for _, c := range a.compared {
		r, err := a.client.Resource(c.Object.APIVersion, c.Object.Kind)
		if err != nil {
			return nil, fmt.Errorf("objects to be deleted cannot be read again: %w", err)
		}
		add(r, c.Object.Namespace)
	}
	served := a.client.Discovered()
	if len(a.dependentNamespaces) > 0 {
		for _, p := range served.Places(kube.Scope{Namespaces: slices.Sorted(maps.Keys(a.dependentNamespaces))}) {
			if p.Resource.Namespaced {
				add(p.Resource, p.Namespace)
			}
		}
	}
	for _, p := range served.Places(kube.Scope{}) {
		if a.anywhere || a.definitions[p.Resource.GroupResource().String()] || a.claims && p.Resource.Is(object.PV) {
			add(p.Resource, "")
		}
	}
	var list []kube.Place
	for key, p := range wanted {
		everywhere := key
		everywhere.namespace = ""
		if _, both := wanted[everywhere]; p.Namespace == "" || !both {
			list = append(list, p)
		}
	}
	return list, nil
}

// change describes how an object differs from the prediction; empty if it does not.
func (a *consequenceIndex) change(now *object.Object) string {
	name := now.Ref.ShortName()
	seen := a.plannedObject(now.Ref)
	if seen != nil && seen.UID != now.UID {
		seen = nil
	}
	if !plan.Passing(now.Ref) && a.follows(now) && (seen == nil || !a.follows(seen)) {
		return name + " goes with what is deleted now"
	}
	if c := a.compared[now.UID]; c != nil && seen != nil {
		if err := a.protected(now); err != nil && c.IsDeleted() {
			return name + strings.TrimPrefix(err.Error(), "it")
		}
		if why := unexpectedChange(seen, now, nil); why != "" {
			return name + strings.TrimPrefix(why, "it")
		}
		return ""
	}
	switch {
	case plan.Passing(now.Ref):
	case seen == nil && a.contains(now):
		return name + " is new, and would go, too"
	case slices.ContainsFunc(now.Owners, func(ref object.OwnerReference) bool {
		return a.deleted[ref.UID] && (seen == nil || !seen.RefersTo(ref.UID))
	}):
		return name + " has a new owner that is to be deleted, and may be deleted with it"
	}
	return ""
}

// needsFacts reports whether follows needs more than the metadata of a kind.
func (a *consequenceIndex) needsFacts(r object.Resource) bool {
	return a.claims && r.Is(object.PV) || a.nodes && r.Is(object.Pod)
}

// follows reports whether an object is deleted with a deleted one that it has no reference to: a
// volume with its claim, a token with its ServiceAccount, a pod with its node.
func (a *consequenceIndex) follows(o *object.Object) bool {
	if p := o.Pod(); p != nil && p.NodeName != "" {
		return a.owners[object.Node.Ref("", p.NodeName).Coordinates()]
	}
	owner, ok := o.ImplicitOwner()
	return ok && a.owners[owner.Ref().Coordinates()] && (o.Volume() == nil || o.Volume().ReclaimPolicy != "Retain")
}

// contains reports whether an object is deleted with its namespace or CRD.
func (a *consequenceIndex) contains(o *object.Object) bool {
	if a.namespaces[o.Namespace] {
		return true
	}
	r, err := a.client.Resource(o.APIVersion, o.Kind)
	return err == nil && a.definitions[r.GroupResource().String()]
}

// unexpectedChange describes a change of an object since the plan that our own deletes don't
// explain; empty if there is none. Our deletes let the collector remove references to leaving
// owners, delete dependents and remove its own finalizers.
func unexpectedChange(seen, now *object.Object, leaving map[types.UID]bool) string {
	for _, ref := range now.Owners {
		if !slices.ContainsFunc(seen.Owners, func(s object.OwnerReference) bool { return sameReference(s, ref) }) {
			return fmt.Sprintf("it is owned by %s %s now", ref.Kind, ref.Name)
		}
	}
	for _, ref := range seen.Owners {
		if !leaving[ref.UID] && !now.RefersTo(ref.UID) {
			return fmt.Sprintf("it is not owned by %s %s any more", ref.Kind, ref.Name)
		}
	}
	for _, f := range now.Finalizers() {
		// Under a foreground deletion the collector deletes dependents in the foreground.
		if !seen.HasFinalizer(f) && (f != object.Foreground || !now.BeingDeleted()) {
			return "it has finalizer " + f + " now"
		}
	}
	for _, f := range seen.Finalizers() {
		if !now.HasFinalizer(f) && f != object.Foreground && f != object.Orphan && !now.BeingDeleted() {
			return "it does not have finalizer " + f + " any more"
		}
	}
	return ""
}

// sameReference reports whether a reference is unchanged, except that blockOwnerDeletion may have
// become false.
func sameReference(was, is object.OwnerReference) bool {
	if is.BlockOwnerDeletion == object.False {
		was.BlockOwnerDeletion = object.False
	}
	return was == is
}

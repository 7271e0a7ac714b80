package deleters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var (
	_ controllers.World    = (*world)(nil)
	_ controllers.Selector = (*world)(nil)
	_ controllers.Coverage = (*world)(nil)
)

// world is a live API server as the controllers see it: they read what the watches have shown, and
// write to the server. It is not safe for concurrent use.
//
// The cache lags behind: a request is not repeated for one version of an object. And before
// something is considered gone for good, the server is asked whether the cache is complete.
type world struct {
	ctx    context.Context
	client *kube.Client
	// list reads the versions of objects.
	list func(ctx context.Context, at kube.Place) (listed, error)
	// generation is the store's generation at the beginning of a pass.
	generation uint64
	feed       *kube.Feed
	store      *store
	writes     uint64
	// deletes records the deletes; nil for a world that sends none.
	deletes  *deletes
	accepted map[acceptedRequest]struct{}
	// readOnly is true if nothing may be written.
	readOnly bool
}

// acceptedRequest is a request that was accepted for one version of an object.
type acceptedRequest struct {
	uid     types.UID
	version string
	what    string
}

// maxAccepted bounds accepted. A forgotten request is sent once more.
const maxAccepted = 1 << 14

// Resources returns the served resources.
func (w *world) Resources() *object.Resources {
	if d := w.client.Discovered(); d != nil {
		return d.Resources
	}
	return &object.Resources{}
}

// Objects returns all watched objects.
func (w *world) Objects() []*object.Object { return w.store.all(everything) }

func everything(*object.Object) bool { return true }

// ObjectsOf returns the objects of one resource. Unwatched kinds, such as events, are read from the
// server.
func (w *world) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return w.Select(gr, namespace, everything)
}

// Select returns the objects of ObjectsOf that match.
func (w *world) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	if r, ok := w.unwatched(gr); ok && namespace != "" {
		var list []*object.Object
		// An unreadable resource is not covered: see Covers, which is called first.
		_ = w.read(r, namespace, func(o *object.Object) {
			if match(o) {
				list = append(list, o)
			}
		})
		return list
	}
	return w.store.list(gr, namespace, match)
}

// unwatched reports whether a resource can be listed but is not watched.
func (w *world) unwatched(gr schema.GroupResource) (object.Resource, bool) {
	rs := w.Resources()
	r, ok := rs.Preferred(gr)
	if !ok || !r.Verbs.Has(object.List) || object.Storage(gr) != gr || rs.Monitored(r) && r.Verbs.Has(object.Watch) {
		return r, false
	}
	return r, true
}

// read lists a place on the server.
func (w *world) read(r object.Resource, namespace string, found func(*object.Object)) error {
	_, err := w.client.List(w.ctx, kube.Place{Resource: r, Namespace: namespace}, kube.Selection{Metadata: true}, kube.Listing{
		Object: func(o *object.Object) error {
			found(o)
			return nil
		},
	})
	return err
}

// Covers reports whether everything of a resource is known.
func (w *world) Covers(r object.Resource, namespace string) bool { return w.Why(r, namespace) == "" }

// Why says why not everything is known.
func (w *world) Why(r object.Resource, namespace string) string {
	if u, ok := w.unwatched(r.GroupResource()); ok && namespace != "" {
		if err := w.read(u, namespace, func(*object.Object) {}); err != nil {
			return err.Error()
		}
		return ""
	}
	if _, uncovered := w.feed.Uncovered(object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind}); !uncovered {
		return ""
	}
	gr := object.Storage(r.GroupResource())
	for _, k := range w.feed.Kinds() {
		if k.Resource.GroupResource() == gr && k.State != kube.Synced {
			return unreadText(k)
		}
	}
	return "" // it has been read just now
}

// Undiscovered lists the API versions whose resources are unknown.
func (w *world) Undiscovered() []object.Undiscovered {
	var list []object.Undiscovered
	if d := w.client.Discovered(); d != nil {
		for _, m := range d.Missing {
			list = append(list, object.Undiscovered{APIVersion: m.GroupVersion, Why: m.Why})
		}
	}
	return list
}

// Unserved returns false: an announced resource is followed, or not covered.
func (w *world) Unserved(object.Resource, string) bool { return false }

// Writes returns the number of accepted requests, without repetitions.
func (w *world) Writes() uint64 { return w.writes }

// sendOnce sends a request about an object unless it was accepted for this version.
func (w *world) sendOnce(o *object.Object, what string, send func() error) error {
	if w.readOnly {
		return errOthers
	}
	key := acceptedRequest{o.UID, o.ResourceVersion, what}
	if _, done := w.accepted[key]; done {
		return nil
	}
	if err := send(); err != nil {
		return err
	}
	if len(w.accepted) >= maxAccepted {
		clear(w.accepted)
	}
	w.accepted[key] = struct{}{}
	w.writes++
	return nil
}

// known returns the cached object at a place.
func (w *world) known(ref object.Ref) (*object.Object, error) {
	r, err := w.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil, err
	}
	if o := w.store.find(r.GroupResource(), ref.Namespace, ref.Name); o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(r.GroupResource(), ref.Name)
}

// send makes a write on the server, unless it was accepted before.
func (w *world) send(ctx context.Context, i controllers.Intent) (*object.Object, error) {
	switch i.Verb {
	case controllers.Delete:
		return nil, w.delete(ctx, i.Ref, i.Options)
	case controllers.DeleteCollection:
		return nil, w.deleteCollection(ctx, i.Resource, i.Namespace, i.Options)
	case controllers.DeleteStored:
		return nil, errServer
	case controllers.Patch:
		known, err := w.known(i.Ref)
		if err != nil {
			return nil, err
		}
		return nil, w.sendOnce(known, "PATCH "+string(i.Patch.Body()), func() error { return w.client.Patch(ctx, i.Ref, i.Patch) })
	case controllers.Finalize:
		return i.Object, w.finalize(ctx, i.Object)
	default:
		return i.Object, w.update(ctx, i.Object)
	}
}

// errServer says that the API server does something itself.
var errServer = errors.New("the API server does that itself")

// delete deletes an object.
func (w *world) delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	known, err := w.known(ref)
	if apierrors.IsNotFound(err) {
		known, err = &object.Object{Ref: ref}, nil
	}
	if err != nil {
		return err
	}
	what := "DELETE"
	if o.PropagationPolicy != nil {
		what += " " + string(*o.PropagationPolicy)
	}
	if o.GracePeriodSeconds != nil {
		what += fmt.Sprint(" ", *o.GracePeriodSeconds)
	}
	return w.sendOnce(known, what, func() error {
		err := w.client.Delete(ctx, ref, o)
		if err == nil {
			w.noteDelete(known)
		}
		return err
	})
}

// deleteCollection deletes the objects of a resource in a namespace, if that changes any of them.
func (w *world) deleteCollection(ctx context.Context, r object.Resource, namespace string, o metav1.DeleteOptions) error {
	changes := object.Filtered(w.ObjectsOf(r.GroupResource(), namespace), func(found *object.Object) bool {
		return !found.BeingDeleted() || found.HandlesDependents()
	})
	sent := false
	for _, found := range changes {
		err := w.sendOnce(found, "DELETECOLLECTION", func() error {
			if !sent {
				if err := w.client.DeleteCollection(ctx, kube.Place{Resource: r, Namespace: namespace}, nil, o); err != nil {
					return err
				}
				sent = true
			}
			w.noteDelete(found)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// noteDelete records an accepted delete. These controllers delete the pods that have ended, and what
// is in a namespace that is being deleted.
func (w *world) noteDelete(o *object.Object) {
	if w.deletes == nil {
		return
	}
	why := "no kubelet ends it"
	if !o.Is(object.Pod) || !o.BeingDeleted() {
		why = "namespace " + o.Namespace + " is being deleted"
	}
	w.deletes.add(deletion{ref: o.Ref, at: time.Now(), why: why})
}

// update writes the differences from the cached object: removed finalizers, or the phase of a pod
// or a namespace.
func (w *world) update(ctx context.Context, o *object.Object) error {
	known, err := w.known(o.Ref)
	if err != nil {
		return err
	}
	removed := slices.DeleteFunc(slices.Clone(known.Finalizers()), o.HasFinalizer)
	if p := object.TakeFinalizers(known, removed); len(p.TakeFinalizers) > 0 {
		return w.sendOnce(known, "PATCH "+string(p.Body()), func() error {
			if err := w.confirmUnused(o); err != nil {
				return err
			}
			err := w.client.Patch(ctx, o.Ref, p)
			if err == nil {
				w.deletes.removed(strings.Join(removed, ", "), o.Ref, "nothing uses it")
			}
			return err
		})
	}
	phase := ""
	if pod := o.Pod(); pod != nil {
		phase = pod.Phase
	} else if ns := o.NamespaceFacts(); ns != nil {
		phase = ns.Phase
	}
	if phase == "" {
		return fmt.Errorf("%s: nothing is known to write", o.Ref)
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": o.UID, "resourceVersion": known.ResourceVersion}, "status": map[string]any{"phase": phase},
	})
	if err != nil {
		return err
	}
	return w.sendOnce(known, "phase "+phase, func() error {
		return w.client.PatchRaw(ctx, o.Ref, "status", types.MergePatchType, body, false)
	})
}

// finalize replaces the spec.finalizers of a namespace. It checks with the server that the
// namespace is empty, because objects that the watches have not shown would be lost with it.
func (w *world) finalize(ctx context.Context, o *object.Object) error {
	known, err := w.known(o.Ref)
	if err != nil {
		return err
	}
	return w.sendOnce(known, "FINALIZE", func() error {
		if err := w.confirmEmpty(o); err != nil {
			return err
		}
		raw, stored, err := w.client.Raw(ctx, o.Ref)
		if err != nil {
			return err
		}
		if stored.UID != o.UID {
			return apierrors.NewNotFound(object.Namespace.GroupResource(), o.Name)
		}
		var whole map[string]any
		if err := json.Unmarshal(raw, &whole); err != nil {
			return err
		}
		spec, _ := whole["spec"].(map[string]any)
		if spec == nil {
			spec = map[string]any{}
		}
		spec["finalizers"], whole["spec"] = o.NamespaceFacts().Finalizers, spec
		if raw, err = json.Marshal(whole); err != nil {
			return err
		}
		if err = w.client.Finalize(ctx, o.Ref, raw); err == nil {
			w.deletes.removed(object.NamespaceToken, o.Ref, "it is empty")
		}
		return err
	})
}

// conflict returns an error that makes the caller try again.
func conflict(o *object.Object, why string) error {
	gr := schema.GroupResource{Group: object.GroupOf(o.APIVersion), Resource: o.Kind}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
		Message: apierrors.NewConflict(gr, o.Name, errors.New(why)).Error(),
	}}
}

// maxReads is the number of concurrent reads for one check.
const maxReads = 16

// confirmEmpty returns an error unless the server confirms that a namespace is empty.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContentForGroupVersionResource.
func (w *world) confirmEmpty(ns *object.Object) error {
	var all errgroup.Group
	all.SetLimit(maxReads)
	rs := w.Resources()
	for _, r := range rs.All() {
		preferred, _ := rs.Preferred(r.GroupResource())
		if !r.Namespaced || r.Version != preferred.Version || !r.Verbs.Has(object.List|object.Delete) || object.Storage(r.GroupResource()) != r.GroupResource() {
			continue
		}
		all.Go(func() error {
			n := 0
			if err := w.read(r, ns.Name, func(*object.Object) { n++ }); err != nil {
				return err
			}
			if n > 0 {
				return conflict(ns, "there are "+r.GroupResource().String()+" that no watch has shown yet")
			}
			return nil
		})
	}
	return all.Wait()
}

// confirmUnused returns an error unless the server confirms that the cache has everything that may
// use a protected object, before its protection is removed.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go askAPIServer.
func (w *world) confirmUnused(o *object.Object) error {
	k, namespace := object.Pod, o.Namespace
	switch {
	case o.Is(object.PVC):
	case o.Is(object.PV):
		k, namespace = object.PVC, ""
	default:
		return nil
	}
	l, err := w.list(w.ctx, kube.Place{Resource: k.Resource(), Namespace: namespace})
	if err != nil {
		return err
	}
	// The decision was made with the state at the beginning of the pass.
	if generation, _ := w.store.now(); generation != w.generation || !w.store.hasReached(l) {
		return conflict(o, "there are "+k.Plural+" that were not looked at yet")
	}
	return nil
}

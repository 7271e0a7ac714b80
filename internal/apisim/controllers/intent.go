package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Verb is what an Intent does.
type Verb uint8

// The verbs of intents.
const (
	// Delete deletes one object.
	Delete Verb = iota + 1
	// DeleteCollection deletes the objects of a resource in a namespace.
	DeleteCollection
	// DeleteStored deletes the objects of a resource in a namespace, or those of a cluster-scoped
	// resource, directly in storage as the API server itself does: without options and without
	// admission.
	DeleteStored
	// Update replaces an object.
	Update
	// Patch changes an object.
	Patch
	// Finalize replaces the spec.finalizers of a namespace.
	Finalize
)

// Intent is a write that a controller wants to make.
type Intent struct {
	Verb Verb
	// For is the object whose deletion the write continues: the namespace or the definition that is
	// emptied, otherwise the written object itself.
	For object.Ref
	// Ref is the written object. Empty for a collection.
	Ref object.Ref
	// Object is the new state for Update and Finalize.
	Object *object.Object
	// Patch is the change for Patch.
	Patch object.Patch
	// Resource and Namespace are the collection for DeleteCollection and DeleteStored.
	Resource  object.Resource
	Namespace string
	// Options are those of Delete and DeleteCollection.
	Options metav1.DeleteOptions
}

// Send decides about an intent. It returns the answer of the server, with the stored object for
// Update and Finalize. A controller continues with what the answer allows, as its next write may
// depend on it: pod GC deletes a pod only once it is marked as failed. A Send that makes no write
// answers with an error.
type Send func(ctx context.Context, i Intent) (*object.Object, error)

// Writer is a server that takes the writes of controllers.
type Writer interface {
	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error
	DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error
	Update(ctx context.Context, o *object.Object) (*object.Object, error)
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
	Finalize(ctx context.Context, o *object.Object) (*object.Object, error)
}

// To returns the Send that makes each write on a server.
func To(w Writer) Send {
	return func(ctx context.Context, i Intent) (*object.Object, error) {
		switch i.Verb {
		case Delete:
			return nil, w.Delete(ctx, i.Ref, i.Options)
		case DeleteCollection:
			return nil, w.DeleteCollection(ctx, i.Resource, i.Namespace, nil, i.Options)
		case DeleteStored:
			return nil, w.DeleteStored(ctx, i.Resource.GroupResource(), i.Namespace)
		case Patch:
			return nil, w.Patch(ctx, i.Ref, i.Patch)
		case Finalize:
			return w.Finalize(ctx, i.Object)
		default:
			return w.Update(ctx, i.Object)
		}
	}
}

// delete asks for the deletion of an object.
func (p *pass) delete(o *object.Object, options metav1.DeleteOptions) error {
	_, err := p.send(p.ctx, Intent{Verb: Delete, For: o.Ref, Ref: o.Ref, Options: options})
	return err
}

// update asks for a new state of an object.
func (p *pass) update(next *object.Object) (stored *object.Object, err error) {
	return p.send(p.ctx, Intent{Verb: Update, For: next.Ref, Ref: next.Ref, Object: next})
}

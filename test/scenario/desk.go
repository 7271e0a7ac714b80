package scenario

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// desk is the server as controllers see it. It writes down who asked for what,
// among the requests of the collector, so that their order shows.
type desk struct {
	*apisim.Server
	wire  *wire
	actor string
	// refused are the requests that were refused and written down.
	refused map[string]bool
}

func newDesk(m *machine) *desk {
	return &desk{Server: m.server, wire: m.wire, refused: map[string]bool{}}
}

// under puts the name of the controller that makes a pass on the desk.
func (d *desk) under(c controllers.Controller, pass func()) {
	d.actor = c.Name()
	pass()
}

// do makes a request. A refusal is written down once, a success when something
// changed.
func (d *desk) do(text string, request func() error) error {
	before := d.Writes()
	err := request()
	text = d.actor + " " + text
	if err != nil {
		if !d.refused[text] {
			d.refused[text] = true
			d.wire.note(true, text, "", err)
		}
		return err
	}
	if d.Writes() != before {
		d.wire.note(true, text, "200", nil)
	}
	return nil
}

// Delete passes a delete on.
func (d *desk) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	return d.do("DELETE "+ref.String()+optionsText(o), func() error { return d.Server.Delete(ctx, ref, o) })
}

// DeleteCollection passes the delete of a collection on.
func (d *desk) DeleteCollection(ctx context.Context, r object.Resource, namespace string, s labels.Selector, o metav1.DeleteOptions) error {
	text := fmt.Sprintf("DELETECOLLECTION %s %s %s%s", r.APIVersion(), r.Name, namespace, optionsText(o))
	return d.do(text, func() error { return d.Server.DeleteCollection(ctx, r, namespace, s, o) })
}

// DeleteStored passes a delete in the storage on.
func (d *desk) DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error {
	text := strings.TrimRight("DELETESTORED "+gr.String()+" "+namespace, " ")
	return d.do(text, func() error { return d.Server.DeleteStored(ctx, gr, namespace) })
}

// Update passes an update on.
func (d *desk) Update(ctx context.Context, o *object.Object) (stored *object.Object, err error) {
	err = d.do("UPDATE "+o.Ref.String(), func() error {
		stored, err = d.Server.Update(ctx, o)
		return err
	})
	return stored, err
}

// Patch passes a patch on.
func (d *desk) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	return d.do(patchText(ref, p), func() error { return d.Server.Patch(ctx, ref, p) })
}

// Finalize passes an update of spec.finalizers on.
func (d *desk) Finalize(ctx context.Context, o *object.Object) (stored *object.Object, err error) {
	err = d.do("FINALIZE "+o.Ref.String(), func() error {
		stored, err = d.Server.Finalize(ctx, o)
		return err
	})
	return stored, err
}

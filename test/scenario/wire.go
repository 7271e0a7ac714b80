package scenario

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// wire is the API that the collector talks to. It passes everything on and
// writes down what went over the wire: a request that was refused before it
// could be made, for want of a mapping or a namespace, is none.
type wire struct {
	api  engine.API
	sent []call
}

// call is one request with its answer, as scenarios print it.
type call struct {
	text  string
	write bool
}

// Resource asks the API; a mapping is no request.
func (w *wire) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.api.Resource(apiVersion, kind)
}

// Get passes a read on.
func (w *wire) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := w.api.Get(ctx, ref)
	answer := ""
	if err == nil {
		answer = fmt.Sprintf("200 uid=%s rv=%s", o.UID, o.ResourceVersion)
	}
	w.note(false, "GET "+ref.String(), answer, err)
	return o, err
}

// Delete passes a delete on.
func (w *wire) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	err := w.api.Delete(ctx, ref, o)
	w.note(true, "DELETE "+ref.String()+optionsText(o), "200", err)
	return err
}

// Patch passes a patch on.
func (w *wire) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	err := w.api.Patch(ctx, ref, p)
	w.note(true, patchText(ref, p), "200", err)
	return err
}

func patchText(ref object.Ref, p object.Patch) string {
	form := "strategic"
	if p.Type == object.Merge {
		form = "merge"
	}
	return fmt.Sprintf("PATCH %s %s %s", ref, form, p.Body())
}

func (w *wire) note(write bool, request, answer string, err error) {
	if err != nil {
		var made bool
		if answer, made = answerText(err); !made {
			return
		}
	}
	w.sent = append(w.sent, call{text: request + " → " + answer, write: write})
}

// take hands over the requests since the last call.
func (w *wire) take() []call {
	sent := w.sent
	w.sent = nil
	return sent
}

// answerText is the status code of an error, and whether a request was made at
// all.
func answerText(err error) (answer string, made bool) {
	var unknown *object.UnknownKindError
	var scope *object.NamespaceRequiredError
	var uncovered *object.UncoveredError
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &unknown), errors.As(err, &scope):
		return "", false
	case errors.As(err, &uncovered):
		return "not covered", true
	case errors.As(err, &status):
		return fmt.Sprint(status.Status().Code), true
	default:
		return err.Error(), true
	}
}

// optionsText is what a DELETE says beyond the object, each with a blank before.
func optionsText(o metav1.DeleteOptions) string {
	text := ""
	if o.PropagationPolicy != nil {
		text += " " + string(*o.PropagationPolicy)
	}
	if o.GracePeriodSeconds != nil {
		text += fmt.Sprintf(" grace=%d", *o.GracePeriodSeconds)
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil {
			text += " uid=" + string(*p.UID)
		}
		if p.ResourceVersion != nil {
			text += " rv=" + *p.ResourceVersion
		}
	}
	return text
}

package backup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Try sends every step as a dry run, which checks permissions, admission and validation. A step
// that needs an object of an earlier step, such as its namespace, can't be tried. Neither can
// objects of an extension server, which may not support dry runs and would store them. For these,
// Try checks only the permission. The answers are in the order of the steps; the error is that of
// the context.
func (u *Undo) Try(ctx context.Context) ([]report.Answer, error) {
	t := dryRunner{client: u.client, asked: map[permission]granted{}}
	made := steps(u.plan)
	var answers []report.Answer
	for i := range u.plan.Steps {
		s := &u.plan.Steps[i]
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := report.Answer{Object: s.Object, Verb: http.MethodPatch}
		if s.Verb == undo.Create {
			t.mapping.Made(s, s.Object.UID) // the server does not check the UIDs of owners
			a.Verb = http.MethodPost
		}
		untried, err := t.tryStep(ctx, s, made.isNeededBy(s))
		describe(s, &u.out.Steps[i])
		if a.Untried = untried; err != nil {
			a.Untried, a.Refused = "", err.Error()
		}
		answers = append(answers, a)
	}
	return answers, ctx.Err()
}

// dryRunner is the state of one Try.
type dryRunner struct {
	client  *kube.Client
	mapping undo.Mapping
	// asked caches the answers about permissions.
	asked map[permission]granted
}

// granted is the answer about a permission. unknown is why the server did not answer, refused why it
// denies the permission.
type granted struct{ unknown, refused error }

// permission is an RBAC verb on the objects of a kind in a namespace.
type permission struct{ verb, apiVersion, kind, namespace string }

// Reasons why a step is not tried.
const (
	needsEarlier = "an earlier step makes what it needs"
	mayStore     = "its server does not say that it knows dry runs"
)

// tryStep tries one step. If it can't, it checks the permission and returns the reason. late
// reports that the step depends on an earlier one.
func (t *dryRunner) tryStep(ctx context.Context, s *undo.Step, late bool) (untried string, err error) {
	verb, send := "create", t.create
	if s.Verb != undo.Create {
		verb, send = "patch", t.patch
	}
	r, err := t.client.Resource(s.Object.APIVersion, s.Object.Kind)
	if s.Verb == undo.Status {
		r.Name += "/status"
	}
	late = late || s.Verb == undo.Status || s.Verb == undo.Restore && s.Live() == nil
	right := permission{verb, s.Object.APIVersion, s.Object.Kind, s.Object.Namespace}
	switch {
	case late && err != nil:
		return needsEarlier, nil //nolint:nilerr // an earlier step makes its definition
	case late:
		return t.checkPermission(ctx, needsEarlier, right, r)
	case err == nil && !t.client.DryRuns(ctx, r):
		return t.checkPermission(ctx, mayStore, right, r)
	default:
		return "", send(ctx, s)
	}
}

func (t *dryRunner) create(ctx context.Context, s *undo.Step) error {
	body, err := bodyOf(s, &t.mapping)
	if err == nil {
		_, _, err = t.client.Create(ctx, s.Object, body, true)
	}
	if err != nil && s.DropAddresses(refusedFields(err)) {
		return t.create(ctx, s)
	}
	if s.Fills() && apierrors.IsAlreadyExists(err) {
		return nil // a controller recreated it, and the step adds to it
	}
	return err
}

func (t *dryRunner) patch(ctx context.Context, s *undo.Step) error {
	var body []byte
	var err error
	switch s.Verb {
	case undo.Manage:
		var there []byte
		var live *object.Object
		if there, live, err = t.client.Raw(ctx, s.Object); err == nil {
			body, err = s.Managers(&t.mapping, live, there)
		}
	case undo.Overwrite, undo.Secrets:
		body, _, err = s.OverwriteOf(&t.mapping, s.Live(), s.Now())
	case undo.Create, undo.Restore, undo.Status:
		var patch object.Patch
		patch, _, err = s.Patch(&t.mapping)
		body = patch.Body()
	}
	if err != nil {
		return err
	}
	return t.client.PatchRaw(ctx, placeOf(s), "", types.MergePatchType, body, true)
}

// refusedFields returns the fields that the server names in an Invalid error.
func refusedFields(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return object.Mapped(status.Status().Details.Causes, func(cause metav1.StatusCause) string { return cause.Field })
}

// checkPermission checks each permission once for steps that are not tried for a reason.
func (t *dryRunner) checkPermission(ctx context.Context, why string, p permission, r object.Resource) (untried string, err error) {
	g, known := t.asked[p]
	if !known {
		access, err := t.client.MayI(ctx, p.verb, r, p.namespace)
		if g.unknown = err; err == nil && !access.Allowed {
			g.refused = errors.New(strings.TrimSuffix(fmt.Sprintf("we may not %s %s: %s", p.verb, r.GroupResource(), access.Why), ": "))
		}
		t.asked[p] = g
	}
	if g.unknown != nil {
		return why + "; unknown whether permissions allow it: " + g.unknown.Error(), nil
	}
	return why + "; permissions allow it", g.refused
}

// createdFirst are the objects created by the plan that later steps depend on.
type createdFirst struct {
	namespaces map[string]bool
	definition bool
	forPods    bool
}

func steps(p *undo.Plan) createdFirst {
	f := createdFirst{namespaces: map[string]bool{}}
	for i := range p.Steps {
		switch r := p.Steps[i].Object; {
		case p.Steps[i].Verb != undo.Create:
		case r.Is(object.Namespace):
			f.namespaces[r.Name] = true
		case r.Is(object.CRD):
			f.definition = true
		case r.Is(object.ServiceAccount), r.Is(object.PriorityClass):
			f.forPods = true
		}
	}
	return f
}

// isNeededBy reports whether a creation depends on an earlier one.
func (f createdFirst) isNeededBy(s *undo.Step) bool {
	r := s.Object
	return r.Namespace != "" && f.namespaces[r.Namespace] || f.definition && !object.BuiltIn(r.Group()) ||
		f.forPods && (r.Is(object.Pod) || r.Is(object.Secret))
}

// bodyOf returns the body that creates an object: the body of the step with the annotation of its
// old UID.
func bodyOf(s *undo.Step, m *undo.Mapping) ([]byte, error) {
	body, _, err := s.Body(m)
	if err != nil {
		return nil, err
	}
	content, err := undo.ContentOf(body)
	if err != nil {
		return nil, err
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[Annotation] = string(s.Object.UID)
	if !fitsAnnotations(annotations) {
		delete(annotations, Annotation) // creating it without the annotation is better than not creating it
	}
	metadata["annotations"] = annotations
	return undo.Marshal(content)
}

// fitsAnnotations reports whether a server accepts annotations of that total size.
//
// Upstream: apimachinery/pkg/api/validation/objectmeta.go ValidateAnnotationsSize.
func fitsAnnotations(annotations map[string]any) bool {
	texts := make(map[string]string, len(annotations))
	for key, value := range annotations {
		texts[key], _ = value.(string)
	}
	return validation.ValidateAnnotationsSize(texts) == nil
}

// placeOf returns the object that a step writes to.
func placeOf(s *undo.Step) object.Ref {
	ref := s.Object
	if live := s.Live(); live != nil {
		ref.UID = live.UID
	}
	return ref
}

package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TryDelete sends the DELETE of each target as a dry run and returns the answers. The error is that
// of the context.
func TryDelete(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, policy engine.Policy) ([]report.Answer, error) {
	t := dryRun{ctx: ctx, client: client}
	for _, target := range result.Plan.Seed.Targets {
		seen := snap.Find(target.APIVersion, target.Kind, target.Namespace, target.Name)
		if seen == nil {
			t.answers = append(t.answers, report.Answer{Object: target, Verb: http.MethodDelete, Untried: "it was not seen, so its uid is unknown"})
			continue
		}
		t.delete(seen.Ref, deleteOptions(result, policy, seen))
	}
	return t.answers, ctx.Err()
}

// TryCollect is TryDelete for the requests of a collection. A patch of an object that an earlier
// patch changes needs a version that does not exist yet, so only the permission is checked for it.
func TryCollect(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result) ([]report.Answer, error) {
	t := dryRun{ctx: ctx, client: client}
	patched := map[object.Ref]bool{}
	for _, w := range result.Writes() {
		seen := snap.Find(w.Object.APIVersion, w.Object.Kind, w.Object.Namespace, w.Object.Name)
		switch {
		case w.Deletes && seen != nil:
			t.delete(seen.Ref, deleteOptions(result, engine.Background, seen))
		case seen == nil || patched[seen.Ref]:
			t.checkPatch(w.Object)
		default:
			patched[seen.Ref] = true
			p := *w.Patch
			p.ResourceVersion = seen.ResourceVersion
			t.patch(seen.Ref, p)
		}
	}
	return t.answers, ctx.Err()
}

// TryRemoving is TryDelete for the removal of finalizers.
func TryRemoving(ctx context.Context, client *kube.Client, result *plan.Result) ([]report.Answer, error) {
	t := dryRun{ctx: ctx, client: client}
	for _, target := range result.Plan.Seed.Targets {
		t.removeFinalizers(target, result.Plan.Seed.Finalizers)
	}
	return t.answers, ctx.Err()
}

// dryRun collects the answers of dry runs.
type dryRun struct {
	ctx     context.Context
	client  *kube.Client
	answers []report.Answer
}

// noDryRun is why a request is not tried: without dry runs, the server might execute it.
const noDryRun = "its server does not say that it knows dry runs"

// ask sends a request as a dry run, if the server of the kind is known to support that.
func (t *dryRun) ask(ref object.Ref, verb string, send func() error) {
	a := report.Answer{Object: ref, Verb: verb}
	resource, err := t.client.Resource(ref.APIVersion, ref.Kind)
	switch {
	case err != nil:
		a.Refused = err.Error()
	case !t.client.DryRuns(t.ctx, resource):
		a.Untried = noDryRun
	default:
		if err := send(); err != nil {
			a.Refused = err.Error()
		}
	}
	t.answers = append(t.answers, a)
}

func (t *dryRun) delete(ref object.Ref, o metav1.DeleteOptions) {
	o.DryRun = []string{metav1.DryRunAll}
	t.ask(ref, http.MethodDelete, func() error { return t.client.Delete(t.ctx, ref, o) })
}

func (t *dryRun) patch(ref object.Ref, p object.Patch) {
	t.ask(ref, http.MethodPatch, func() error {
		return t.client.PatchRaw(t.ctx, ref, "", types.PatchType(p.Type.String()), p.Body(), true)
	})
}

// checkPatch checks the permission to patch instead of sending a request that is not known yet.
func (t *dryRun) checkPatch(ref object.Ref) {
	const verb, why = "patch", "an earlier request changes the object first; "
	a := report.Answer{Object: ref, Verb: http.MethodPatch}
	resource, err := t.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		a.Refused = err.Error()
	} else if access, err := t.client.MayI(t.ctx, verb, resource, ref.Namespace); err != nil {
		a.Untried = why + "unknown whether permissions allow it: " + err.Error()
	} else if !access.Allowed {
		a.Refused = fmt.Sprintf("we may not %s %s: %s", verb, resource.GroupResource(), access.Why)
	} else {
		a.Untried = why + "permissions allow it"
	}
	t.answers = append(t.answers, a)
}

// removeFinalizers tries the patch of metadata. The spec of a namespace has a path without dry runs.
func (t *dryRun) removeFinalizers(ref object.Ref, names []string) {
	o, err := t.client.Get(t.ctx, ref)
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		t.answers = append(t.answers, report.Answer{Object: ref, Verb: http.MethodPatch, Refused: err.Error()})
		return
	}
	p := object.TakeFinalizers(o, names)
	if len(p.TakeFinalizers) > 0 {
		t.patch(ref, p)
	}
	if o.Is(object.Namespace) && slices.Contains(names, finalizer.NamespaceToken) {
		t.answers = append(t.answers, report.Answer{Object: ref, Verb: http.MethodPut, Untried: "the finalize request of a namespace has no dry run"})
	}
}

// rehearse sends a delete as a dry run, to find out what denies it before the first real one. Any
// answer except success is a refusal, because admission may deny with any code, also with 404 and
// 409. Two answers prove nothing: that the object has changed or is gone, which is detected later,
// and that a webhook has no dry runs.
//
// DryRun is in the body: if there is a body, a server ignores options in the URL. (spec §2.6)
//
// Upstream: apiserver/pkg/admission/plugin/webhook/errors/statuserror.go ToStatusErr,
// NewDryRunUnsupportedErr.
func (r *run) rehearse(ctx context.Context, seen *object.Object, policy engine.Policy) error {
	ref := seen.Ref
	resource, err := r.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil || r.backup.gone[ref] || r.backup.changed[ref] || !r.client.DryRuns(ctx, resource) {
		return nil //nolint:nilerr // the delete itself gets the same answer
	}
	o := deleteOptions(r.result, policy, seen)
	o.DryRun = []string{metav1.DryRunAll}
	if isStripped(seen, policy) {
		o.Preconditions.ResourceVersion = nil
	}
	err = r.client.Delete(ctx, ref, o)
	switch code := backup.ResultOf(err).Code; {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case code == 0: // no answer
		return err
	case code == http.StatusBadRequest && strings.HasSuffix(err.Error(), "does not support dry run"):
		return nil
	case code == http.StatusNotFound || code == http.StatusConflict:
		if now, got := r.client.Get(ctx, ref); got != nil || now.UID != ref.UID || now.ResourceVersion != seen.ResourceVersion {
			return ctx.Err()
		}
	}
	return &RefusedError{Why: "the server would not delete " + ref.FullName() + ": " + err.Error()}
}

// plannedObject returns an object as the plan saw it.
func (r *run) plannedObject(ref object.Ref) *object.Object {
	return r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}

// rehearseDeletes rehearses the first most planned deletes.
func (r *run) rehearseDeletes(ctx context.Context, policy engine.Policy, most int) error {
	for _, p := range r.order {
		if !p.write.Deletes {
			continue
		}
		if most--; most < 0 {
			break
		}
		if err := r.rehearse(ctx, r.plannedObject(p.write.Object), policy); err != nil {
			return err
		}
	}
	return nil
}

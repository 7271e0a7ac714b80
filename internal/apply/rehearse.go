package apply

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rehearse sends a delete as a dry run, to find out what denies it before the first real one. It is
// an error if the server refuses the request itself. A changed or missing object is detected later,
// and a webhook without dry runs proves nothing.
//
// DryRun is in the body: if there is a body, a server ignores options in the URL. (spec §2.6)
func (r *run) rehearse(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	resource, err := r.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil || r.backup.gone[ref] || r.backup.changed[ref] || !r.client.DryRuns(ctx, resource) {
		return nil //nolint:nilerr // the delete itself gets the same answer
	}
	o.DryRun = []string{metav1.DryRunAll}
	err = r.client.Delete(ctx, ref, o)
	switch backup.ResultOf(err).Code {
	case http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusMethodNotAllowed:
		return &RefusedError{Why: "the server would not delete " + ref.String() + ": " + err.Error()}
	}
	return ctx.Err()
}

// seen returns an object as the plan saw it.
func (r *run) seen(ref object.Ref) *object.Object {
	return r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}

// rehearseTargets rehearses the deletes of all targets.
func (r *run) rehearseTargets(ctx context.Context, policy engine.Policy) error {
	for _, p := range r.order {
		if !p.write.Deletes {
			continue
		}
		if err := r.rehearse(ctx, p.write.Object, deleteOptions(r.result, policy, r.seen(p.write.Object))); err != nil {
			return err
		}
	}
	return nil
}

// rehearseCanary rehearses the first delete of a collection.
func (r *run) rehearseCanary(ctx context.Context) error {
	for _, p := range r.order {
		if p.write.Deletes {
			return r.rehearse(ctx, p.write.Object, deleteOptions(r.result, engine.Background, r.seen(p.write.Object)))
		}
	}
	return nil
}

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// RemoveFinalizers executes the plan of a removal. It removes exactly the requested finalizers from
// each target, and only from the version judged last. The consequences are up to the cluster. With
// Wait, it follows them until they are complete, and compares them with the plan.
//
// If nothing was written, the error is a *RefusedError or a failure. After the first write there is
// always a report.
func RemoveFinalizers(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, allow finalizer.Allow, o Options) (*report.Run, error) {
	r := newRun(ctx, client, snap, result, o)
	for _, t := range result.Plan.Seed.Targets {
		r.plan(plan.Write{Object: t, Removes: true})
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.recheck(ctx); err != nil {
		return r.finish(ctx, err)
	}
	t := &finalizerRemoval{run: r, names: result.Plan.Seed.Finalizers, allow: allow}
	return r.conclude(ctx, t.removeAll(ctx))
}

// finalizerRemoval is a run that removes finalizers.
type finalizerRemoval struct {
	*run
	names []string
	allow finalizer.Allow
}

// removeAll processes the targets. A target that is left alone does not stop the others; a journal
// that can't be written does.
func (t *finalizerRemoval) removeAll(ctx context.Context) error {
	for _, p := range t.order {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := t.removeOne(context.WithoutCancel(ctx), p)
		if _, broken := errors.AsType[*backup.JournalError](err); broken {
			return err
		}
		if err != nil && p.last == nil {
			p.leave(err)
		}
	}
	return nil
}

// maxAttempts is how often an object is read and judged again. (spec §18)
const maxAttempts = 5

// removeOne removes the finalizers of one object. It judges the version just read, writes only to
// that one, and reads again after every inconclusive answer. A namespace may need two requests,
// since its spec has its own.
func (t *finalizerRemoval) removeOne(ctx context.Context, p *planned) error {
	ref := p.write.Object
	sentAt := "" // the version of the last request that was not confirmed
	var last error
	for range maxAttempts {
		raw, o, err := t.client.Raw(ctx, ref)
		switch {
		case apierrors.IsNotFound(err), err == nil && o.UID != ref.UID:
			t.settled(p)
			return nil
		case err != nil:
			return err
		}
		present := slices.DeleteFunc(slices.Clone(t.names), func(name string) bool { has, _ := finalizer.Has(o, name); return !has })
		if len(present) == 0 {
			t.settled(p)
			return nil
		}
		if sentAt == o.ResourceVersion {
			// The object is unchanged: a refusal is final, and an unanswered request may still be
			// in progress and must not be sent twice.
			return last
		}
		if err := t.protected(o); err != nil {
			return err
		}
		if err := t.judge(ctx, o, present); err != nil {
			return err
		}
		outcome, err := t.send(ctx, o, raw, present)
		switch {
		case err == nil:
			continue // until a new read shows that nothing is left to do
		case outcome != backup.Unknown && !isChangedError(err):
			return err
		}
		sentAt, last = o.ResourceVersion, err
	}
	if last == nil {
		last = errors.New("the finalizer was added again each time")
	}
	return last
}

// settled records that the object no longer has the finalizers. An unanswered request then counts
// as confirmed.
func (t *finalizerRemoval) settled(p *planned) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.last != nil && p.last.Outcome == backup.Unknown {
		p.last.Outcome, p.last.Err = backup.Confirmed, nil
		t.done++
	}
	if p.last != nil && p.last.Outcome == backup.Refused {
		p.last = nil
	}
}

// isChangedError reports whether an answer says that the object is not as judged: 409, 404, and 422
// for a failed test of a JSON patch.
func isChangedError(err error) bool {
	switch backup.ResultOf(err).Code {
	case http.StatusConflict, http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

// judge lists again what the judgement is based on: a pod may use the claim since the plan was
// made.
func (t *finalizerRemoval) judge(ctx context.Context, o *object.Object, names []string) error {
	snap, err := t.snapshotFor(ctx, finalizer.ListRequests(o, names))
	if err != nil {
		return fmt.Errorf("to judge it once more: %w", err)
	}
	refusals := finalizer.In(snap).Judge(o, names, t.allow)
	if len(refusals) == 0 {
		return nil
	}
	texts := object.Mapped(refusals, func(r finalizer.Refusal) string { return r.Finalizer + ": " + r.Why() })
	return errors.New("it is not as it was planned: " + strings.Join(texts, "; "))
}

// snapshotFor takes a snapshot for the questions. A question with an empty namespace asks for all
// namespaces, one without kinds for all kinds in its namespace.
func (t *finalizerRemoval) snapshotFor(ctx context.Context, lists []finalizer.ListRequest) (*snapshot.Snapshot, error) {
	if len(lists) == 0 {
		return snapshot.New(nil, t.client.Discovered().Resources, nil, snapshot.Source{})
	}
	var scope kube.Scope
	for _, l := range lists {
		scope.Namespaces = append(scope.Namespaces, l.Namespace)
		scope.Include = append(scope.Include, l.Kinds...)
	}
	slices.Sort(scope.Namespaces)
	scope.Namespaces = slices.Compact(scope.Namespaces)
	if slices.Contains(scope.Namespaces, "") {
		scope.Namespaces = nil
	}
	if slices.ContainsFunc(lists, func(l finalizer.ListRequest) bool { return len(l.Kinds) == 0 }) {
		scope.Include = nil
	}
	return t.client.Snapshot(ctx, scope, nil)
}

// hasNone returns a function that reports whether an object has none of the finalizers. It is
// always false for the namespace token, which is not in the metadata.
func hasNone(names []string) func(*object.Object) bool {
	return func(o *object.Object) bool {
		return !slices.Contains(names, finalizer.NamespaceToken) && !slices.ContainsFunc(names, o.HasFinalizer)
	}
}

// send sends one request: the patch of the metadata if it changes, otherwise that of the namespace
// spec.
func (t *finalizerRemoval) send(ctx context.Context, o *object.Object, raw []byte, present []string) (backup.Outcome, error) {
	if err := t.backup.saveNewer(o, raw); err != nil {
		return backup.Refused, err
	}
	p := object.TakeFinalizers(o, present)
	i := backup.Intent{Object: o.Ref, Verb: http.MethodPatch, ResourceVersion: o.ResourceVersion, Body: p.Body()}
	write := func(ctx context.Context) error { return t.client.Patch(ctx, o.Ref, p) }
	if len(p.TakeFinalizers) == 0 {
		body, err := withoutTokens(raw, present)
		if err != nil {
			return backup.Refused, err
		}
		i.Verb, i.Body = http.MethodPut, body
		write = func(ctx context.Context) error { return t.client.Finalize(ctx, o.Ref, body) }
	}
	outcome, err := t.journal.Do(ctx, i, hasNone(present), write)
	t.recordResult(sentWrite{Object: o.Ref, Verb: i.Verb, Outcome: outcome, Err: err})
	return outcome, err
}

// withoutTokens returns a namespace without some of its spec.finalizers, as a body for the
// subresource finalize.
func withoutTokens(raw []byte, names []string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var namespace map[string]any
	if err := d.Decode(&namespace); err != nil {
		return nil, fmt.Errorf("the namespace cannot be read: %w", err)
	}
	spec, ok := namespace["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("the namespace has no spec")
	}
	tokens, _ := spec["finalizers"].([]any)
	spec["finalizers"] = slices.DeleteFunc(slices.Clone(tokens), func(token any) bool {
		name, _ := token.(string)
		return slices.Contains(names, name)
	})
	return json.Marshal(namespace)
}

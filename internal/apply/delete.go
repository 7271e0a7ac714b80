package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Delete executes the plan of a delete: one DELETE for each target, for exactly the version that
// the plan is based on, in sequence. The consequences are up to the cluster. With Wait, Delete
// follows them until they are complete, and compares them with the plan.
//
// If nothing was written, the error is a *RefusedError or a failure. After the first write there is
// always a report.
func Delete(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, policy engine.Policy, o Options) (*report.Run, error) {
	r := newRun(ctx, client, snap, result, o)
	for _, t := range result.Plan.Seed.Targets {
		if seen := r.plannedObject(t); seen != nil && isStripped(seen, policy) {
			r.plan(plan.Write{Object: t})
		}
		r.plan(plan.Write{Object: t, Deletes: true, Removes: true})
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.rehearseDeletes(ctx, policy, len(r.order)); err != nil {
		return nil, r.abandon(err)
	}
	if err := r.recheck(ctx); err != nil {
		return r.finish(ctx, err)
	}
	return r.conclude(ctx, r.deleteTargets(ctx, policy))
}

// deleteTargets sends the deletes. It ends at the first failure.
func (r *run) deleteTargets(ctx context.Context, policy engine.Policy) error {
	api := &journalledAPI{API: r.client, journal: r.journal, done: r.recordResult}
	leaving := r.deletedUIDs()
	for _, p := range r.order {
		if ref := p.write.Object; r.backup.changed[ref] {
			return fmt.Errorf("%s has changed since the plan was made", ref)
		}
	}
	for _, p := range r.order {
		ref := p.write.Object
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.backup.gone[ref] {
			continue
		}
		do := r.deleteOne
		if !p.write.Deletes {
			do = r.removeCollectorFinalizers
		}
		if err := do(context.WithoutCancel(ctx), api, p, policy, leaving); err != nil {
			if p.last == nil {
				p.leave(err)
			}
			return err
		}
	}
	return nil
}

// deletedUIDs returns the UIDs of the objects that the run deletes. The collector removes
// references to them.
func (r *run) deletedUIDs() map[types.UID]bool {
	uids := map[types.UID]bool{}
	for _, ref := range r.written() {
		uids[ref.UID] = true
	}
	for _, e := range r.expected {
		if e.mayBeDeleted() {
			uids[e.Object.UID] = true
		}
	}
	return uids
}

// deleteOne deletes a target in the version that the plan is based on. After a conflict it reads
// and judges the target again, because earlier deletes make the collector write to it. A target
// with any other change is left alone, and no DELETE is sent for a version that was not judged.
func (r *run) deleteOne(ctx context.Context, api engine.API, p *planned, policy engine.Policy, leaving map[types.UID]bool) error {
	ref := p.write.Object
	seen := r.plannedObject(ref)
	now := seen
	if isStripped(seen, policy) { // our own patch has created another version
		fresh, err := r.rereadTarget(ctx, seen, leaving)
		if fresh == nil {
			return err
		}
		now = fresh
	}
	if err := r.protected(now); err != nil {
		return err
	}
	for tries := maxAttempts + len(seen.Owners); ; tries-- {
		err := api.Delete(ctx, ref, deleteOptions(r.result, policy, now))
		if _, broken := errors.AsType[*backup.JournalError](err); broken {
			return err
		}
		if p.last == nil {
			return err
		}
		code := backup.ResultOf(err).Code
		if p.last.Outcome == backup.Confirmed || code == http.StatusNotFound {
			return nil
		}
		if code != http.StatusConflict || tries == 0 {
			return err
		}
		fresh, changed := r.rereadTarget(ctx, seen, leaving)
		if fresh == nil {
			return changed
		}
		if fresh.ResourceVersion == now.ResourceVersion {
			return err // its content is unchanged: the refusal is final
		}
		now = fresh
	}
}

// rereadTarget reads a target, judges it and saves it in the backup. It returns nil without an
// error if the target is gone, and with an error if it must be left alone.
func (r *run) rereadTarget(ctx context.Context, seen *object.Object, leaving map[types.UID]bool) (*object.Object, error) {
	raw, now, err := r.client.Raw(ctx, seen.Ref)
	switch {
	case apierrors.IsNotFound(err), err == nil && now.UID != seen.UID:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := r.protected(now); err != nil {
		return nil, err
	}
	why := unexpectedChange(seen, now, leaving)
	if is, err := kube.ContentOf(raw); why == "" && (err != nil || is != r.backup.contents[seen.Ref]) {
		why = "it was changed in the meantime"
	}
	if why != "" {
		return nil, fmt.Errorf("%s has changed since the plan was made: %s", seen.Ref, why)
	}
	// The collector may have removed owners because of our own deletes. The saved copy keeps them,
	// so that an undo restores them.
	if raw, err = jsonpatch.MergePatch(raw, object.Patch{Type: object.Merge, Owners: &seen.Owners}.Body()); err != nil {
		return nil, err
	}
	if err := r.backup.saveNewer(now, raw); err != nil {
		return nil, err
	}
	return now, nil
}

// removeCollectorFinalizers removes the collector's finalizers from a target, in the version judged
// last. With them, the server would refuse its DELETE.
func (r *run) removeCollectorFinalizers(ctx context.Context, api engine.API, p *planned, _ engine.Policy, leaving map[types.UID]bool) error {
	ref := p.write.Object
	for tries := maxAttempts; ; tries-- {
		now, err := r.rereadTarget(ctx, r.plannedObject(ref), leaving)
		if now == nil {
			r.mu.Lock()
			if p.last != nil && p.last.Outcome == backup.Refused {
				p.last = nil // the reason is the change
			}
			r.mu.Unlock()
			return err
		}
		patch := object.TakeFinalizers(now, []string{object.Orphan, object.Foreground})
		if len(patch.TakeFinalizers) == 0 {
			return nil
		}
		err = api.Patch(ctx, ref, patch)
		if _, broken := errors.AsType[*backup.JournalError](err); err == nil || broken || tries == 0 || !isChangedError(err) {
			return err
		}
	}
}

func deleteOptions(result *plan.Result, policy engine.Policy, o *object.Object) metav1.DeleteOptions {
	options := engine.DeleteOptions(policy, o.UID, o.ResourceVersion)
	options.GracePeriodSeconds = result.Plan.Seed.GracePeriodSeconds
	return options
}

// isStripped reports whether a DELETE strips all finalizers of an object, that is, it has only those
// of the collector. An API server refuses such a DELETE for every resourceVersion, even the current
// one. Without a resourceVersion, it would also delete changes made in between. So a patch for one
// version removes the finalizers first, and the DELETE is for the resulting version.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Delete.
// Rule: spec §2.6, S020.
func isStripped(o *object.Object, policy engine.Policy) bool {
	f := o.Finalizers()
	return policy == engine.Background && len(f) > 0 &&
		!slices.ContainsFunc(f, func(f string) bool { return f != object.Foreground && f != object.Orphan })
}

// The pauses between two reads during a cascade.
const (
	firstPoll = 100 * time.Millisecond
	nextPoll  = 2 * time.Second
)

// conclude reports on the targets, and with Wait on the consequences. end is why some targets were
// not deleted; nil if all were.
func (r *run) conclude(ctx context.Context, end error) (*report.Run, error) {
	if end == nil && r.o.Wait {
		return r.follow(ctx)
	}
	if end == nil {
		end = errDone
	}
	out, err := r.finish(ctx, end)
	if out != nil && (out.State == report.Complete || out.State == report.Unseen) {
		// Consequences that are still in progress are no drift.
		out.State, out.Differences, out.Summary.Differing, out.Summary.Compared = report.NotAwaited, []report.Difference{}, 0, 0
	}
	return out, err
}

// follow waits until the predicted deletions are complete, and reports.
func (r *run) follow(ctx context.Context) (*report.Run, error) {
	within := ctx
	if r.o.Timeout > 0 {
		var stop context.CancelFunc
		within, stop = context.WithTimeout(ctx, r.o.Timeout)
		defer stop()
	}
	state, message := r.await(within)
	if ctx.Err() != nil {
		return r.finish(ctx, ctx.Err())
	}
	out, err := r.finish(ctx, errDone)
	if out.State == report.Complete {
		out.State, out.Message = state, message
	}
	if state == report.TimedOut {
		differencesToPending(out)
	}
	return out, err
}

// differencesToPending removes the differences that may still disappear after a timeout. Objects
// whose deletion has not begun become pending.
func differencesToPending(out *report.Run) {
	out.Differences = slices.DeleteFunc(out.Differences, func(d report.Difference) bool {
		if d.Reason == report.Survived {
			out.Pending = append(out.Pending, report.Pending{Object: d.Object, NotBegun: true})
		}
		return d.Reason != report.GoneInstead
	})
	out.Summary.Pending, out.Summary.Differing = len(out.Pending), len(out.Differences)
}

// await blocks until every predicted change has happened, no collector seems to run, or the context
// has ended.
func (r *run) await(ctx context.Context) (report.RunState, string) {
	awaited := r.awaitedObjects()
	after := r.predictedObjects()
	last, moved, pause := "", r.o.Now(), firstPoll
	for {
		now := readStates(ctx, r.client, awaited, r.deletedCRD)
		left, waiting := r.unfinished(now, after)
		shape := fingerprint(left, waiting)
		if shape != last && ctx.Err() == nil {
			last, moved, pause = shape, r.o.Now(), firstPoll
			r.reportProgress(Progress{Stage: Following, Done: len(awaited) - len(left), Total: len(awaited), Waiting: waiting})
		}
		switch {
		case len(left) == 0:
			return report.Complete, ""
		case ctx.Err() != nil:
			return report.TimedOut, "not everything to be deleted is gone yet"
		case r.o.Now().Sub(moved) > r.o.stallTimeout():
			if why := r.whyUncollected(ctx, r.overdue(left, r.o.Now().Sub(moved)), now); why != "" {
				return report.NotCollected, why
			}
			if !slices.ContainsFunc(left, func(ref object.Ref) bool { return now[ref].err == nil }) {
				return report.Unseen, r.unreadableObjects(now)
			}
		}
		select {
		case <-ctx.Done():
			return report.TimedOut, "not everything to be deleted is gone yet"
		case <-time.After(pause):
		}
		pause = min(pause*2, nextPoll)
	}
}

// awaitedObjects returns the objects that are predicted to be deleted or changed.
func (r *run) awaitedObjects() []object.Ref {
	var refs []object.Ref
	for _, e := range r.expected {
		if e.isCertain() && (e.startsDeletion() || e.changes()) {
			refs = append(refs, e.Object)
		}
	}
	return refs
}

// unfinished returns the objects that have not changed as predicted yet, and those of them that are
// being deleted. Objects predicted to be blocked are included, since their finalizers may be
// removed.
func (r *run) unfinished(now map[object.Ref]currentState, after map[object.Ref]*object.Object) (left []object.Ref, waiting []report.Pending) {
	for _, e := range r.expected {
		ref := e.Object
		s, looked := now[ref]
		if !looked || s.gone() || e.changes() && s.o != nil && after[ref] != nil && sameOwnersAndFinalizers(s.o, after[ref]) {
			continue
		}
		left = append(left, ref)
		if s.o != nil && s.o.BeingDeleted() {
			waiting = append(waiting, pending(e, s.o))
		}
	}
	return left, waiting
}

// fingerprint returns a text that changes whenever the remaining objects or their finalizers change.
func fingerprint(left []object.Ref, waiting []report.Pending) string {
	var b strings.Builder
	fmt.Fprint(&b, left)
	for _, w := range waiting {
		fmt.Fprint(&b, w.Object, w.Finalizers)
	}
	return b.String()
}

// whyUncollected explains why no garbage collector seems to run; it is empty if one may run. Call it
// when nothing has moved for a while. It needs three things: work is left for a collector, this run
// has seen none of a collector's work, and kube-controller-manager is not known to be alive.
//
// If the work is left for other controllers alone, such as the namespace controller, collect does
// not help.
func (r *run) whyUncollected(ctx context.Context, left []object.Ref, now map[object.Ref]currentState) string {
	stays := slices.DeleteFunc(slices.Clone(left), func(ref object.Ref) bool {
		o := now[ref].o
		return o == nil || o.BeingDeleted() && !o.HandlesDependents()
	})
	if len(stays) == 0 || r.hasCollected(now) {
		return ""
	}
	alive, why := r.controllerManager(ctx)
	if alive {
		return ""
	}
	why = fmt.Sprintf(" seems to run in this cluster: nothing has changed for %s, and %s", r.o.stallTimeout(), why)
	if slices.ContainsFunc(r.expected, func(e expectation) bool { return e.Consequence.Controller == "" && slices.Contains(stays, e.Object) }) {
		ns, where := stays[0].Namespace, "-A"
		if ns != "" && !slices.ContainsFunc(stays, func(ref object.Ref) bool { return ref.Namespace != ns }) {
			where = "-n " + ns
		}
		return "no garbage collector" + why + ": `kubectl gc collect " + where + "` does it"
	}
	return "no kube-controller-manager" + why
}

// podGCDelay is how long pod GC may take after a node has gone: it checks every 20 seconds, and
// gives the node 40 seconds to come back.
//
// Upstream: pkg/controller/podgc/gc_controller.go gcCheckPeriod, quarantineTime.
const podGCDelay = 75 * time.Second

// overdue returns the objects that should have changed by now. Those that pod GC deletes have more
// time.
func (r *run) overdue(left []object.Ref, quiet time.Duration) []object.Ref {
	if quiet > podGCDelay {
		return left
	}
	return slices.DeleteFunc(slices.Clone(left), func(ref object.Ref) bool {
		return slices.ContainsFunc(r.expected, func(e expectation) bool { return e.Object == ref && e.Consequence.Controller == plan.PodGC })
	})
}

// hasCollected reports whether an object was deleted that only a garbage collector deletes.
func (r *run) hasCollected(now map[object.Ref]currentState) bool {
	written := map[object.Ref]bool{}
	for _, w := range r.order {
		written[w.write.Object] = true
	}
	return slices.ContainsFunc(r.expected, func(e expectation) bool {
		s, looked := now[e.Object]
		return e.Consequence.When == report.AtOnce && e.startsDeletion() && looked && s.err == nil && s.gone() && !written[e.Object]
	})
}

// controllerManager reports whether a kube-controller-manager is known to be alive. One without
// leader election can't be detected.
func (r *run) controllerManager(ctx context.Context) (alive bool, why string) {
	l, err := r.client.Lease(ctx, object.ManagerLease.Namespace, object.ManagerLease.Name)
	switch _, unserved := errors.AsType[*kube.UnservedPathError](err); {
	case apierrors.IsNotFound(err) || unserved:
		return false, "there is no Lease of a kube-controller-manager"
	case err != nil:
		return false, "the Lease of the kube-controller-manager cannot be read"
	case l.Renewed.IsZero() || l.Holder == "":
		return false, "the Lease of kube-controller-manager has no holder"
	}
	read := l.Read
	if read.IsZero() {
		read = r.o.Now()
	}
	if object.HolderStateOf(l.Holder, l.Renewed.Unix(), int64(l.Duration/time.Second), read.Unix(), 0) != object.HolderAlive {
		return false, fmt.Sprintf("the Lease of the kube-controller-manager was renewed last %s ago", read.Sub(l.Renewed).Round(time.Second))
	}
	return true, ""
}

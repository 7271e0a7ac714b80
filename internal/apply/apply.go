// Package apply executes a plan within its bounds. It checks permissions, backs up the objects that
// will be deleted, and sends the writes through the bounds of the plan and a journal. An unplanned
// write is not sent and ends the run. (spec §16)
//
// Policy says what may be deleted at all (protect.go): some objects are protected unless the user
// unlocks their kind by name, some kinds hold data, and one run deletes no more than a limit. It applies
// to our own writes. Predictions ignore it, as Kubernetes does.
package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options are the options of a run.
type Options struct {
	// Tool is the version of the program.
	Tool string
	// Backup is the directory in which the backup is created.
	Backup string
	// Unsaved leaves the bytes of objects out of the backup, so deleted objects can't be recreated
	// from it. The journal is written nevertheless.
	Unsaved bool
	// Policy lists what must not be deleted. It is checked again right before each request, for the
	// version that the request is for.
	Policy Policy
	// Secrets keeps the bytes of Secrets, too.
	Secrets bool
	// StallTimeout is how long a run without progress waits before it ends; 0 for 15 seconds.
	StallTimeout time.Duration
	// Wait follows a delete until its effects are complete, at most for Timeout; 0 for no limit.
	Wait    bool
	Timeout time.Duration
	// Tell receives progress. Calls are serialized. It may be nil.
	Tell func(Progress)
	// Now returns the time for records.
	Now func() time.Time
}

// Progress is the progress of a run.
type Progress struct {
	// Stage is the current stage.
	Stage Stage
	// Done and Total count objects that are backed up, written or gone.
	Done, Total int
	// Waiting are the objects that are being deleted.
	Waiting []report.Pending
}

// Stage is a stage of a run.
type Stage string

// The stages.
const (
	BackingUp Stage = "backed up"
	Writing   Stage = "written"
	Following Stage = "gone"
)

// stallTimeout returns StallTimeout or its default.
func (o *Options) stallTimeout() time.Duration {
	if o.StallTimeout > 0 {
		return o.StallTimeout
	}
	return 15 * time.Second
}

// planned is one write of the plan.
type planned struct {
	write plan.Write
	last  *sentWrite // result of the last request
	why   string     // why no request was sent
	kept  bool       // no request was sent because the object is protected
}

// leave records why nothing was sent.
func (p *planned) leave(err error) {
	_, p.kept = errors.AsType[*protectedError](err)
	p.why = err.Error()
}

// confirmed reports whether the server has confirmed the write.
func (p *planned) confirmed() bool { return p.last != nil && p.last.Outcome == backup.Confirmed }

type plannedKey struct {
	ref     object.Ref
	deletes bool
}

// run is a plan in execution.
type run struct {
	client *kube.Client
	snap   *snapshot.Snapshot
	result *plan.Result
	o      Options

	expected    []expectation
	backup      runBackup
	journal     *journal
	onFailpoint func(string)

	mu           sync.Mutex // guards the fields below
	order        []*planned
	byKey        map[plannedKey]*planned
	sent         int // requests sent
	done         int
	surprises    []report.Surprise
	lastActivity time.Time
}

func newRun(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, o Options) *run {
	at, _ := ctx.Value(failpointKey{}).(func(string))
	return &run{
		client: client, snap: snap, result: result, o: o, expected: expectationsOf(result), onFailpoint: at,
		byKey: map[plannedKey]*planned{},
	}
}

// plan adds a write that is about to be sent. Duplicates are merged.
func (r *run) plan(w plan.Write) {
	key := plannedKey{w.Object, w.Deletes}
	if r.byKey[key] == nil {
		p := &planned{write: w}
		r.byKey[key], r.order = p, append(r.order, p)
	}
}

// written returns the objects that the run writes to.
func (r *run) written() []object.Ref {
	return object.Mapped(r.order, func(p *planned) object.Ref { return p.write.Object })
}

// toFinalize returns the additional permissions for removing the token of namespace content from
// the patched namespaces. The token is in the spec, which has a subresource of its own.
func (r *run) toFinalize(patched []permission) []permission {
	if !slices.Contains(r.result.Plan.Seed.Finalizers, finalizer.NamespaceToken) {
		return nil
	}
	var list []permission
	for _, p := range patched {
		if p.resource.Is(object.Namespace) {
			p.verb, p.resource.Name = "update", p.resource.Name+"/finalize"
			list = append(list, p)
		}
	}
	return list
}

// begin checks permissions and makes the backup. It must succeed before any write is sent.
func (r *run) begin(ctx context.Context) error {
	var deletes, patches []object.Ref
	for _, p := range r.order {
		if p.write.Deletes {
			deletes = append(deletes, p.write.Object)
		} else {
			patches = append(patches, p.write.Object)
		}
	}
	toDelete, err := permissionsOf(r.client, "delete", deletes)
	if err != nil {
		return err
	}
	toPatch, err := permissionsOf(r.client, "patch", patches)
	if err != nil {
		return err
	}
	if err := checkPermissions(ctx, r.client, slices.Concat(toDelete, toPatch, r.toFinalize(toPatch))); err != nil {
		return err
	}
	r.failpoint("before-backup")
	if err := r.makeBundle(ctx); err != nil {
		return err
	}
	r.failpoint("after-backup")
	return nil
}

func (r *run) makeBundle(ctx context.Context) error {
	p := r.result.Plan
	subjects := subjectsOf(r.result.Plan, r.written())
	w, err := backup.Create(r.o.Backup, backup.Head{
		Tool: r.o.Tool, Command: p.Seed.Verb, PlanDigest: p.Digest, Created: r.o.Now(), Secrets: r.o.Secrets,
		Cluster:   backup.Cluster{UID: p.Source.ClusterUID, Server: p.Source.Server},
		Witnesses: remainingNamespaces(ctx, r.client.Get, r.snap, subjects),
	})
	if err != nil {
		return fmt.Errorf("the backup: %w", err)
	}
	r.backup = runBackup{
		client: r.client, writer: w, unsaved: r.o.Unsaved, secrets: r.o.Secrets, protected: r.protected,
		saved: map[object.Ref]string{}, actions: map[object.Ref]backup.Action{}, contents: map[object.Ref]kube.Content{},
		gone: map[object.Ref]bool{}, changed: map[object.Ref]bool{},
	}
	r.reportProgress(Progress{Stage: BackingUp, Total: len(subjects)})
	if err := r.backup.backUp(ctx, r.snap, subjects); err != nil {
		return errors.Join(err, w.Close(r.o.Now()))
	}
	if err := w.Seal(); err != nil {
		return fmt.Errorf("the backup: %w", errors.Join(err, w.Close(r.o.Now())))
	}
	r.journal = &journal{writer: w, look: r.client.Get, now: r.o.Now, onFailpoint: r.onFailpoint}
	return nil
}

// abandon closes the backup of a run that has written nothing.
func (r *run) abandon(err error) error {
	return errors.Join(err, r.backup.writer.Close(r.o.Now()))
}

// recordResult records the result of a write.
func (r *run) recordResult(w sentWrite) {
	r.mu.Lock()
	r.sent++
	r.lastActivity = r.o.Now()
	if p := r.byKey[plannedKey{w.Object, w.Verb == http.MethodDelete}]; p != nil {
		if w.Outcome == backup.Confirmed && !p.confirmed() {
			r.done++
		}
		if p.last == nil || !p.confirmed() && (p.last.Outcome != backup.Unknown || w.Outcome != backup.Refused) {
			p.last = &w // a refusal does not settle an earlier unanswered request
		}
	}
	r.reportProgress(Progress{Stage: Writing, Done: r.done, Total: len(r.order)})
	r.mu.Unlock()
}

func (r *run) reportProgress(p Progress) {
	if r.o.Tell != nil {
		r.o.Tell(p)
	}
}

func (r *run) failpoint(point string) {
	if r.onFailpoint != nil {
		r.onFailpoint(point)
	}
}

type failpointKey struct{}

// WithFailpoints calls at at every point where a run might be killed: before-backup, after-backup,
// and for the N-th write before-intent-N, before-write-N, after-write-N, before-journal-result-N
// and after-journal-result-N. Tests end the process there.
func WithFailpoints(ctx context.Context, at func(point string)) context.Context {
	return context.WithValue(ctx, failpointKey{}, at)
}

// permission is an RBAC verb on a resource in a namespace.
type permission struct {
	verb      string
	resource  object.Resource
	namespace string
}

// RefusedError reports that a plan was not executed. Nothing was written.
type RefusedError struct{ Why string }

// Error names the reason.
func (e *RefusedError) Error() string { return "refused, nothing was written: " + e.Why }

// checkPermissions checks all required permissions before the first write: a run that lacks
// permission halfway is worse than none. (spec §21)
func checkPermissions(ctx context.Context, client *kube.Client, wanted []permission) error {
	asked := map[string]bool{}
	var missing []string
	for _, w := range wanted {
		text := fmt.Sprintf("%s %s", w.verb, w.resource.GroupResource())
		if w.namespace != "" {
			text += " in " + w.namespace
		}
		if asked[text] {
			continue
		}
		asked[text] = true
		access, err := client.MayI(ctx, w.verb, w.resource, w.namespace)
		if err != nil {
			return fmt.Errorf("whether we may %s: %w", text, err)
		}
		if !access.Allowed {
			missing = append(missing, strings.TrimSuffix(text+": "+access.Why, ": "))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return &RefusedError{Why: "we may not " + strings.Join(missing, "; nor ")}
}

// permissionsOf returns the permissions that requests require.
func permissionsOf(client *kube.Client, verb string, refs []object.Ref) ([]permission, error) {
	var list []permission
	for _, ref := range refs {
		r, err := client.Resource(ref.APIVersion, ref.Kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		list = append(list, permission{verb, r, ref.Namespace})
	}
	return list, nil
}

// protectedError reports that an object is protected and was left alone.
type protectedError struct{ Why reason.Code }

// Error names what protects the object.
func (e *protectedError) Error() string {
	return "it is protected now by its " + reason.ProtectingPart(e.Why)
}

// protected returns a *protectedError if an object must be left alone. The plan was checked against
// the same policy, but the object may have been protected since. Finalizers are removed only from
// objects that are being deleted already, so a protected kind does not count there; annotations
// do.
func (r *run) protected(o *object.Object) error {
	why, yes := r.o.Policy.Check(o)
	if !yes || why == reason.ProtectedKind && r.result.Plan.Seed.Verb == string(plan.RemoveFinalizer) {
		return nil
	}
	return &protectedError{why}
}

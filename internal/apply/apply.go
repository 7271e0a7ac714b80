package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options say how a plan is carried out.
type Options struct {
	// Tool is the version of the program.
	Tool string
	// Backup is the directory in which the backup is made.
	Backup string
	// Unsaved leaves the objects themselves out of the backup: what is deleted
	// cannot be made again from it. The journal is written all the same.
	Unsaved bool
	// Policy is what must not be deleted. It is asked again right before each request,
	// about the very version that the request is for.
	Policy policy.Policy
	// Secrets keeps the bytes of Secrets, too.
	Secrets bool
	// Workers is the largest number of requests under way; 0 for 20.
	Workers int
	// Patience is how long nothing may happen before what has not come is given
	// up; 0 for 15 seconds.
	Patience time.Duration
	// Wait follows a delete to its end, Timeout for no longer than that; 0 for as
	// long as it takes.
	Wait    bool
	Timeout time.Duration
	// Tell is told how far the run is, by one goroutine at a time; nil for nobody.
	Tell func(Progress)
	// Now is the clock of the records.
	Now func() time.Time
}

// Progress is how far a run is.
type Progress struct {
	// Stage says what is being done.
	Stage Stage
	// Done of Total: objects that are backed up, written, or gone.
	Done, Total int
	// Waiting are those that are on their way and not gone.
	Waiting []report.Pending
}

// Stage is a part of a run.
type Stage string

// The stages.
const (
	BackingUp Stage = "backed up"
	Writing   Stage = "written"
	Following Stage = "gone"
)

// patience is how long nothing may happen.
func (o *Options) patience() time.Duration {
	if o.Patience > 0 {
		return o.Patience
	}
	return 15 * time.Second
}

// planned is one write of the plan.
type planned struct {
	write plan.Write
	last  *sentWrite // what came of the last request
	why   string     // why none was sent
	kept  bool       // none was sent since the object is protected
}

// leave notes why nothing was sent.
func (p *planned) leave(err error) {
	_, p.kept = errors.AsType[*protectedError](err)
	p.why = err.Error()
}

type plannedKey struct {
	ref     object.Ref
	deletes bool
}

// run is a plan that is being carried out.
type run struct {
	client *kube.Client
	snap   *snapshot.Snapshot
	result *plan.Result
	o      Options

	expected []expectation
	backup   runBackup
	journal  *journal
	points   func(string)

	mu           sync.Mutex // guards what follows
	order        []*planned
	byKey        map[plannedKey]*planned
	sent         int // requests that left
	done         int
	surprises    []report.Surprise
	lastActivity time.Time
}

func newRun(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, o Options) *run {
	return &run{
		client: client, snap: snap, result: result, o: o, expected: expectationsOf(result),
		points: failpoints(ctx), byKey: map[plannedKey]*planned{},
	}
}

// plan adds a write that is going to be sent. Two alike are one.
func (r *run) plan(w plan.Write) {
	key := plannedKey{w.Object, w.Deletes}
	if r.byKey[key] == nil {
		p := &planned{write: w}
		r.byKey[key], r.order = p, append(r.order, p)
	}
}

// written are the objects to which something is written.
func (r *run) written() []object.Ref {
	refs := make([]object.Ref, len(r.order))
	for i, p := range r.order {
		refs[i] = p.write.Object
	}
	return refs
}

// toFinalize are the rights that taking the token of namespace content takes, of those
// namespaces that are patched: it stands in the spec, and has a path of its own.
func (r *run) toFinalize(patched []right) []right {
	if !slices.Contains(r.result.Plan.Seed.Finalizers, finalizer.NamespaceToken) {
		return nil
	}
	var list []right
	for _, p := range patched {
		if p.resource.Is(object.Namespace) {
			p.verb, p.resource.Name = "update", p.resource.Name+"/finalize"
			list = append(list, p)
		}
	}
	return list
}

// begin asks for the rights and makes the backup. After it, and not before, writes
// may be sent.
func (r *run) begin(ctx context.Context) error {
	var deletes, patches []object.Ref
	for _, p := range r.order {
		if p.write.Deletes {
			deletes = append(deletes, p.write.Object)
		} else {
			patches = append(patches, p.write.Object)
		}
	}
	toDelete, err := rightsOf(r.client, "delete", deletes)
	if err != nil {
		return err
	}
	toPatch, err := rightsOf(r.client, "patch", patches)
	if err != nil {
		return err
	}
	if err := checkRights(ctx, r.client, slices.Concat(toDelete, toPatch, r.toFinalize(toPatch))); err != nil {
		return err
	}
	r.at("before-backup")
	if err := r.makeBundle(ctx); err != nil {
		return err
	}
	r.at("after-backup")
	return nil
}

func (r *run) makeBundle(ctx context.Context) error {
	p := r.result.Plan
	subjects := subjectsOf(r.result.Plan.Consequences, r.written())
	w, err := backup.Create(r.o.Backup, backup.Head{
		Tool: r.o.Tool, Command: p.Seed.Verb, PlanDigest: p.Digest, Created: r.o.Now(), Secrets: r.o.Secrets,
		Cluster:   backup.Cluster{UID: p.Source.ClusterUID, Server: p.Source.Server},
		Witnesses: witnesses(ctx, r.client.Get, r.snap, subjects),
	})
	if err != nil {
		return fmt.Errorf("the backup: %w", err)
	}
	r.backup = runBackup{
		client: r.client, writer: w, unsaved: r.o.Unsaved, protected: r.protected,
		saved: map[object.Ref]string{}, actions: map[object.Ref]backup.Action{}, contents: map[object.Ref]kube.Content{},
		gone: map[object.Ref]bool{}, changed: map[object.Ref]bool{},
	}
	r.tell(Progress{Stage: BackingUp, Total: len(subjects)})
	if err := r.backup.take(ctx, r.snap, subjects); err != nil {
		return errors.Join(err, w.Close(r.o.Now()))
	}
	if err := w.Seal(); err != nil {
		return fmt.Errorf("the backup: %w", errors.Join(err, w.Close(r.o.Now())))
	}
	r.journal = newJournal(w, r.client.Get, r.o.Now)
	r.journal.points = r.points
	return nil
}

// abandon closes the backup of a run that writes nothing.
func (r *run) abandon(err error) error {
	return errors.Join(err, r.backup.writer.Close(r.o.Now()))
}

// note takes the answer to a write.
func (r *run) note(w sentWrite) {
	r.mu.Lock()
	r.sent++
	r.lastActivity = r.o.Now()
	if p := r.byKey[plannedKey{w.Object, w.Verb == verbDelete}]; p != nil {
		if w.Outcome == backup.Confirmed && (p.last == nil || p.last.Outcome != backup.Confirmed) {
			r.done++
		}
		if p.last == nil || p.last.Outcome != backup.Confirmed && (p.last.Outcome != backup.Unknown || w.Outcome != backup.Refused) {
			p.last = &w // that one was refused says nothing of one that was not answered
		}
	}
	progress := Progress{Stage: Writing, Done: r.done, Total: len(r.order)}
	r.tell(progress)
	r.mu.Unlock()
}

func (r *run) tell(p Progress) {
	if r.o.Tell != nil {
		r.o.Tell(p)
	}
}

func (r *run) at(point string) {
	if r.points != nil {
		r.points(point)
	}
}

type failpointKey struct{}

// WithFailpoints has a run call a function at every point at which it might be
// killed: before-backup, after-backup, and for the N-th write before-intent-N,
// before-write-N, after-write-N, before-journal-result-N and after-journal-result-N.
// It is for tests, which end the process there.
func WithFailpoints(ctx context.Context, at func(point string)) context.Context {
	return context.WithValue(ctx, failpointKey{}, at)
}

func failpoints(ctx context.Context) func(string) {
	at, _ := ctx.Value(failpointKey{}).(func(string))
	return at
}

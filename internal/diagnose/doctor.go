package diagnose

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// CheckupOptions has the information apart from the snapshot. Times are in seconds since 1970.
type CheckupOptions struct {
	// At is when the snapshot was taken; 0 if unknown.
	At int64
	// Patience is how long, in seconds, the collector may leave work undone.
	Patience int64
	// Earlier is a snapshot of the same cluster at an earlier time; nil for none.
	Earlier   *snapshot.Snapshot
	EarlierAt int64
	// Graph is the collector's graph; nil if it was not read.
	Graph *CollectorGraph
	// Lease is that of kube-controller-manager. If it is nil, the one in Health is used.
	Lease *Lease
	// Manager has the processes in the pods of controller managers; empty if none was seen.
	Manager []Process
	// Health shows which writes webhooks refuse; nil if unknown.
	Health *health.Assessment
}

// Examine judges whether the collector of the cluster in the snapshot works. It uses the work that
// the collector leaves undone, its own view of the cluster (ReadDebugGraph), and the lease of its process.
//
// Nothing records since when an object is garbage. An object counts as left behind only if something
// proves that it has been garbage for longer than the collector needs. Without proof the verdict is
// Unknown, never Working.
func Examine(ctx context.Context, snap *snapshot.Snapshot, o CheckupOptions) (*report.Checkup, error) {
	if o.Lease == nil {
		o.Lease = leaseIn(o.Health, o.At)
	}
	e := &examiner{options: o, now: observe(snap)}
	if o.Earlier != nil {
		if err := e.lookBack(); err != nil {
			return nil, err
		}
	}
	for _, obj := range snap.Objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e.summary.Objects++
		e.summary.References += len(obj.Owners)
		e.object(ctx, obj)
	}
	e.kinds()
	e.callees()
	e.lease()
	e.processes()
	if o.Graph != nil {
		e.compare()
	}
	return e.checkup(), nil
}

// observed is a snapshot with a collector that has just observed it.
type observed struct {
	snap      *snapshot.Snapshot
	collector *engine.Collector
	world     engine.World
}

func observe(snap *snapshot.Snapshot) *observed {
	s := &observed{snap: snap}
	s.collector, s.world = plan.Open(snap, engine.Upstream)
	return s
}

// next returns what the collector would do about an object now; false if it does not watch the
// object.
func (s *observed) next(ctx context.Context, o *object.Object) (engine.Decision, bool) {
	a, ok := s.collector.Inspect(o.UID)
	if !ok || a.Ref != o.Ref || a.Virtual {
		return engine.Decision{}, false
	}
	return s.collector.Decide(engine.Lookup(ctx, s.world, engine.Upstream, a)), true
}

// same returns the object in this snapshot that is the same as one of another snapshot; nil if there
// is none, or if its owners differ.
func (s *observed) same(o *object.Object) *object.Object {
	then := s.snap.Find(o.APIVersion, o.Kind, o.Namespace, o.Name)
	if then == nil || then.UID != o.UID || !slices.Equal(then.Owners, o.Owners) {
		return nil
	}
	return then
}

// examiner examines one snapshot.
type examiner struct {
	options  CheckupOptions
	now      *observed
	before   *observed // nil without an earlier snapshot
	findings []report.Finding
	summary  report.FindingSummary
	// unseen: a question could not be answered because something was not covered.
	unseen bool
	// timeless: a question could not be answered because a time is unknown.
	timeless   bool
	comparison *report.GraphComparison
}

// lookBack opens the earlier snapshot. It returns an error if the two cannot be compared.
func (e *examiner) lookBack() error {
	was, is := e.options.Earlier.Source.ClusterUID, e.now.snap.Source.ClusterUID
	switch {
	case was != "" && is != "" && was != is:
		return errors.New("the earlier dump is of another cluster")
	case e.options.At == 0 || e.options.EarlierAt == 0:
		return errors.New("one of the two dumps does not say when it was taken, so they cannot be compared")
	case e.options.EarlierAt >= e.options.At:
		return errors.New("the earlier dump is not earlier")
	}
	e.before = observe(e.options.Earlier)
	return nil
}

// add adds a finding about an object, or about a kind if about has no name.
func (e *examiner) add(code reason.Code, about object.Ref, message, evidence string) {
	e.findings = append(e.findings, report.Finding{
		Code: string(code), Severity: reason.Doctor.Severity(code), Object: about,
		Message: message, Evidence: evidence, Remedy: signs[code].remedy,
	})
}

// age returns the minimum time in seconds since a second; false if it is unknown.
func (e *examiner) age(began int64) (int64, bool) {
	if e.options.At == 0 || began == 0 {
		e.timeless = e.timeless || e.options.At == 0
		return 0, false
	}
	return max(e.options.At-began-1, 0), true // it may have begun at the end of that second
}

func (e *examiner) checkup() *report.Checkup {
	slices.SortStableFunc(e.findings, func(a, b report.Finding) int {
		return cmp.Or(object.Compare(a.Object, b.Object), strings.Compare(a.Code, b.Code))
	})
	e.summary.Count(e.findings)
	c := &report.Checkup{
		Header: report.HeaderOf("Checkup"), Source: plan.SourceOf(e.now.snap),
		PatienceSeconds: e.options.Patience, Graph: e.comparison,
		Summary: e.summary, Findings: append([]report.Finding{}, e.findings...), Gaps: []report.Gap{},
	}
	if e.before != nil {
		c.EarlierTakenAt = e.options.Earlier.Source.TakenAt
	}
	c.Gaps = append(c.Gaps, plan.RelevantGaps(e.now.snap, func(string) bool { return true })...)
	c.Complete = len(c.Gaps) == 0 && !e.unseen && e.now.snap.KnowsAllKinds()
	c.Verdict, c.Reasons = e.verdict(c.Complete)
	return c
}

// callees adds findings for what the API server calls and does not answer: webhooks that must admit deletes or
// updates, such as those of the collector, conversion webhooks, and aggregated APIs.
func (e *examiner) callees() {
	h := e.options.Health
	if h == nil {
		return
	}
	for _, w := range h.UnreachableWebhooks() {
		why, _ := h.Broken(&w.Client)
		if w.Asks(health.Remove, health.Update) {
			about := h.Known(object.Ref{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Configuration})
			e.add(reason.WebhookDown, about, "webhook "+w.Name+" must admit requests and does not answer: "+why.Text(), "")
		}
	}
	for _, d := range h.UnreachableConversions() {
		why, _ := h.Broken(d.Conversion)
		e.add(reason.WebhookDown, h.Known(d.Ref), "its conversion webhook does not answer: "+why.Text(), "")
	}
	for _, a := range h.APIServices() {
		about := h.Known(object.APIService.Ref("", a.Name))
		if !slices.ContainsFunc(e.findings, func(f report.Finding) bool {
			return f.Code == string(reason.GroupUndiscovered) && f.Object.Name == about.Name
		}) {
			e.add(reason.GroupUndiscovered, about, "what it serves is unknown", a.Available.Message)
		}
	}
}

package plan

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// future is a continuation of a run that has settled: it removes finalizers of other controllers.
type future struct {
	// selects reports whether a finalizer is removed.
	selects func(report.Release) bool
	// all removes them from all objects that are being deleted, for a run without a request. It leaves those
	// that protect an object in use: our requests may be what ends its use.
	all bool
	// In firstPhase, finalizers are removed from objects that our requests delete, until nothing
	// more changes. In awaitedPhase, they are also removed from awaited objects. Changes in that
	// phase may not be caused by our requests.
	firstPhase, awaitedPhase outcome.Phases
}

// ofAll returns the future in which everything that is being deleted goes on.
func (f future) ofAll() future {
	f.all = true
	return f
}

func anyRelease(report.Release) bool { return true }

func hasRunningController(r report.Release) bool { return r.State == report.ControllerRuns }

// The futures, in their order. A run goes through the phases
//
//	inBaseline, afterSeed:        at once, with every finalizer of other controllers in place
//	afterRelease, afterOthers:    expected
//	inLaterFuture, laterOfOthers: later
var (
	// expected removes the finalizers that have a running controller. The plan shows this future.
	expected = future{selects: hasRunningController, firstPhase: outcome.AfterRelease, awaitedPhase: outcome.AfterOthers}
	// later removes all other finalizers, because they may be removed some day. Before that, all
	// unreachable nodes, APIs and webhooks recover.
	later = future{selects: anyRelease, firstPhase: outcome.InLaterFuture, awaitedPhase: outcome.LaterOfOthers}
)

// byHand reports whether a person may have confirmed the deletes of a deployer, or removed a finalizer
// whose deployer waits forever.
func (f future) byHand() bool {
	return f.firstPhase&(outcome.InLaterFuture|outcome.LaterOfOthers) != 0
}

// futures contains the results of a run in each future. It is empty if no finalizer of another
// controller holds anything.
type futures struct {
	// first contains the outcomes before finalizers are removed, and last those after the later
	// future. The expected outcomes in between are those of the run itself.
	first, last *outcome.Outcomes
	// untouched contains the outcomes of earlier deletions that the expected future did not touch.
	untouched *outcome.Outcomes
	// expectedReleases and otherReleases were removed from objects that follow from our requests,
	// and releasesOfAwaited from awaited objects.
	expectedReleases, otherReleases, releasesOfAwaited []report.Release
	// attempted contains the finalizers that a request tried to remove, even if the server refused
	// it.
	attempted map[outcome.Key][]string
	// undeployed contains the objects that deployers have tried to delete.
	undeployed map[outcome.Key]bool
	// end contains the objects after the expected future, and steps the number of requests until
	// then. Both are only set if the run continues after that.
	end   []*object.Object
	steps int
	// recovered is true after recoverControllers. Changes after it may not be caused by our
	// requests. overdue contains the deletions that were overdue until then.
	recovered bool
	overdue   *outcome.Overdue
	// refused contains the writes that were refused until then.
	refused map[object.Ref]health.Refusal
	// recovery is what must recover, as a clause after "once": "the unreachable API recovers".
	recovery string
}

// isLater reports whether a step belongs to the later future, which the plan does not expect.
func (f *futures) isLater(step int) bool { return f.end != nil && step > f.steps }

// attempted returns the finalizers of an object that a request tried to remove.
func (s *simulation) attempted(o *object.Object) []string {
	return s.futures.attempted[s.tracks.Key(o)]
}

// runExpectedFuture continues to the expected future.
func (s *simulation) runExpectedFuture(ctx context.Context) error {
	if s.finalizerControllers.lookup == nil || !s.hasHeldObjects(expected) {
		return nil
	}
	s.futures.first = s.judge.Outcomes()
	var err error
	s.futures.expectedReleases, err = s.removeFinalizers(ctx, s.assumed.schedule, expected)
	return err
}

// runLaterFuture continues to the later future and records the changes in the tracks. The expected
// outcomes have been judged already.
func (s *simulation) runLaterFuture(ctx context.Context, all *outcome.Outcomes) error {
	heals := (s.simHealth.Assessment != nil || s.simHealth.Overdue != nil) && anyAwaitsRecovery(all)
	if !heals && !s.hasHeldObjects(later) {
		return nil
	}
	if s.futures.first == nil {
		s.futures.first = all
	}
	s.futures.untouched = s.priorDeletions.untouchedOutcomes(all)
	s.futures.end, s.futures.steps = s.serverObjects(), s.recorder.steps.len()
	if heals {
		s.recoverControllers()
		s.tracks.Phase = later.firstPhase
		if err := s.drain(ctx, nil); err != nil {
			return err
		}
	}
	var err error
	if s.futures.otherReleases, err = s.removeFinalizers(ctx, nil, later); err != nil {
		return err
	}
	s.futures.last = s.judge.Outcomes()
	s.attribution.markAnyway(s.futures.last, later)
	for _, out := range all.All() {
		// It would have happened without our requests too, but now they cause it.
		out.Anyway = out.Anyway || out.AlreadyHappening && out.Track.Changed&outcome.InLaterFuture != 0 && !out.Track.Awaited && !s.changesByRecovery(out.Track)
	}
	return nil
}

// changesByRecovery reports whether an object changes in the later future only because a node, an
// API or a webhook has recovered, unrelated to our requests.
func (s *simulation) changesByRecovery(tr *outcome.Track) bool {
	return s.futures.recovered && tr.Changed&(outcome.AfterSeed|outcome.AfterRelease|outcome.AfterOthers) == 0 && !s.attribution.reaches(tr.First)
}

// retriedRefusals are the reasons of refused writes that may succeed later.
var retriedRefusals = []reason.Code{
	reason.WebhookUnreachable, reason.ConversionFails, reason.WebhookUnknown, reason.PolicyDenies, reason.PolicyUnknown, reason.RequestRefused,
}

// anyAwaitsRecovery reports whether an object stays that may be deleted once nodes, APIs and
// webhooks answer again.
func anyAwaitsRecovery(all *outcome.Outcomes) bool {
	for _, out := range all.All() {
		switch why := reason.Code(out.Reason); out.Result {
		case report.Blocked:
			return true
		case report.Kept, report.Unknown:
			if why.Overdue() || slices.Contains(retriedRefusals, why) {
				return true
			}
		case report.Deleted, report.Orphaned, report.Pruned:
		}
	}
	return false
}

// recoverControllers makes all controllers, APIs and webhooks answer from now on.
func (s *simulation) recoverControllers() {
	s.futures.recovered, s.futures.overdue, s.futures.recovery = true, s.simHealth.Overdue, s.simHealth.Recovery()
	s.futures.refused = maps.Clone(s.simHealth.Refused)
	s.simHealth.Assessment, s.simHealth.Overdue = nil, nil
	s.simHealth.LostAPIs = nil
	clear(s.simHealth.Refused)
	clear(s.futures.undeployed)
	clear(s.futures.attempted) // those that were refused are tried again
	clear(s.recorder.refusedWrites)
	maps.DeleteFunc(s.recorder.withheldWrites, func(_ object.Ref, why reason.Code) bool { return why.Overdue() })
	s.collector.Wake()
}

// removeFinalizers removes the finalizers of a future until nothing more changes. It returns those
// that it removed from objects other than awaited ones.
func (s *simulation) removeFinalizers(ctx context.Context, random *rand.Rand, next future) (done []report.Release, err error) {
	if s.seed.Verb != Collect && s.attribution.withoutUs == nil && s.priorDeletions.anyDeletedBefore() {
		if err := s.findWithoutUs(ctx); err != nil {
			return nil, err
		}
	}
	s.tracks.Phase = next.firstPhase
	for {
		list := s.heldObjects(next, false)
		if len(list) == 0 && s.tracks.Phase != next.awaitedPhase && s.priorDeletions.markAwaited() {
			s.tracks.Phase = next.awaitedPhase
			list = s.heldObjects(next, false)
		}
		byHand := len(list) == 0 && next.byHand()
		if byHand {
			list = s.releasedByHand(next)
		}
		if len(list) == 0 {
			return done, nil
		}
		for _, h := range list {
			if !byHand {
				h = s.undeploy(ctx, h, next)
			}
			if len(h.names) == 0 {
				continue
			}
			s.recorder.runAs(h.actor, string(reason.FinalizerComesOff), func() {
				// A refusal is visible: the object is unchanged.
				_ = s.removeFinalizersFrom(ctx, h.object, h.names)
			})
			key := s.tracks.Key(h.object)
			s.futures.attempted[key] = append(s.futures.attempted[key], h.names...)
			if s.tracks.Of(h.object).Awaited {
				s.futures.releasesOfAwaited = append(s.futures.releasesOfAwaited, h.releases...)
			} else {
				done = append(done, h.releases...)
			}
		}
		if err := s.drain(ctx, random); err != nil {
			return nil, err
		}
		if s.tracks.Phase == next.awaitedPhase {
			s.priorDeletions.markAwaited()
		}
	}
}

// releasedByHand returns the object from which a person removes a finalizer, if nothing else is left to
// do: its deployer waits forever, for an object that waits for it. Other deployers may go on then, so
// that it is only one: one that waits for none of the others. It returns none if no deployer waits.
//
//	application/parent  lists application/child, and waits until that is gone
//	application/child   lists its own namespace: by hand. Then Argo CD goes on with application/parent
func (s *simulation) releasedByHand(next future) []heldObject {
	list := s.heldObjects(next, true)
	waiting := map[object.Coordinates]types.UID{}
	for _, h := range list {
		waiting[h.object.Coordinates()] = h.object.UID
	}
	awaitsOther := func(h heldObject) bool {
		return slices.ContainsFunc(h.releases, func(r report.Release) bool {
			d := s.deployerOf(h.object, r)
			return d != nil && slices.ContainsFunc(s.inventoryFacts(d, h.object).Entries, func(e object.InventoryEntry) bool {
				uid, waits := waiting[e.Coordinates]
				return waits && uid != h.object.UID
			})
		})
	}
	i := slices.IndexFunc(list, func(h heldObject) bool { return !awaitsOther(h) })
	if i < 0 && len(list) > 0 {
		i = 0 // they wait for one another
	}
	if i < 0 {
		return nil
	}
	return list[i : i+1]
}

// heldObject is an object that finalizers of other controllers hold.
type heldObject struct {
	object   *object.Object
	names    []string
	releases []report.Release
	actor    string
}

// hasHeldObjects reports whether a future removes any finalizer.
func (s *simulation) hasHeldObjects(next future) bool {
	s.priorDeletions.markAwaited()
	for _, tr := range s.tracks.All() {
		if h := s.heldObjectOf(tr, next, true, next.byHand()); len(h.names) > 0 {
			return true
		}
	}
	return false
}

// heldObjects returns the objects that lose finalizers next in a future, in object.Compare order.
// byHand includes finalizers whose deployers wait.
func (s *simulation) heldObjects(next future, byHand bool) []heldObject {
	var list []heldObject
	for _, tr := range s.tracks.All() {
		if h := s.heldObjectOf(tr, next, s.tracks.Phase == next.awaitedPhase, byHand); len(h.names) > 0 {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b heldObject) int { return object.Compare(a.object.Ref, b.object.Ref) })
	return list
}

// heldObjectOf returns the object of a track with the finalizers that a future removes from it. It
// has no names if there are none. others includes awaited objects, and byHand finalizers whose
// deployers wait.
func (s *simulation) heldObjectOf(tr *outcome.Track, next future, others, byHand bool) heldObject {
	h := heldObject{object: tr.Last}
	if tr.Last == nil || !tr.Last.BeingDeleted() || len(tr.Last.Finalizers())+len(tr.Last.OtherTokens()) == 0 {
		return h
	}
	if theirs := others && tr.Awaited || next.all; !theirs && (!s.attribution.caused(tr) || s.changesByRecovery(tr)) {
		return h
	}
	for _, r := range s.finalizerControllers.releasesOf(tr.Last) {
		if slices.Contains(s.attempted(tr.Last), r.Finalizer) || !next.selects(r) || next.all && isProtection(r) || !byHand && s.waitsForInventory(tr.Last, r, next) {
			continue
		}
		h.names, h.releases = append(h.names, r.Finalizer), append(h.releases, r)
		h.actor = outcome.ActorReleaser
		if r.Controller != "" {
			h.actor = r.Controller
		}
	}
	return h
}

// addFutureEffects sets AtOnce of each effect to its outcome before finalizers are removed, and
// Later to its outcome in the later future. It adds effects on objects that change only in the
// later future.
func (s *simulation) addFutureEffects(effects []report.Effect, all *outcome.Outcomes) []report.Effect {
	if s.futures.first == nil {
		return effects
	}
	h := s.futureReleases(all)
	for i := range effects {
		e := &effects[i]
		out := s.judge.Of(all, e.Object)
		switch {
		case out == nil:
		case isRewritten(e) && s.judge.Of(s.futures.first, e.Object) == nil:
			s.setRewrittenLater(e, out, h.first, outcome.AfterRelease)
		default:
			s.setFutureOutcomes(e, out.Track, h)
		}
	}
	var more []report.Effect
	doubted := s.doubtedCollections()
	for _, out := range s.sortOutcomes(s.futures.last) {
		if all.At(s.tracks.Key(out.Track.First)) != nil || out.AlreadyHappening && !(out.Anyway && s.attribution.takesNamespaceOf(out.Track.First)) || !s.namespaceScope().includes(out) || s.changesByRecovery(out.Track) {
			continue
		}
		e, refused := s.withoutRecovery(out, doubted)
		if before := s.futures.untouched.At(s.tracks.Key(out.Track.First)); before != nil {
			e = s.effects(before)[0]
			e.AlreadyHappening = false
		}
		s.setFutureOutcomes(&e, out.Track, h)
		// The object stays, but changes.
		if _, rewritten := outcome.Rewriter(out.Reason); rewritten {
			e = s.effects(out)[0]
			s.setRewrittenLater(&e, out, h.expected, outcome.InLaterFuture)
			more = append(more, e)
			continue
		}
		if e.Later == "" && (outcome.VolumeReleased(out.Track) && !s.judge.ClaimUnknown(all, out) || outcome.LosesOwnersLater(out.Track)) {
			e = s.effects(out)[0]
			required := h.expected.releasesFor(out.Track.First)
			e.Once = required.releases()
			e.Message += required.messageSuffix(&e, s.futures.recovery)
			more = append(more, e)
			continue
		}
		if e.Later == "" && e.Outcome != report.Unknown {
			continue
		}
		if s.assumedCollector.writesNothing() && e.Reason == string(reason.UntilFinalizerComesOff) && len(e.Once) == 0 {
			e.Reason = string(reason.CollectorNotWorking)
		}
		if in, unknown := s.findUnknownCause(out, all, map[*outcome.Outcome]bool{}); unknown && !refused {
			e = report.Effect{Object: e.Object, Outcome: report.Unknown, Reason: string(reason.OwnerUnknown), Because: []object.Ref{in}}
			e.Message = "goes or stays with " + e.Because[0].ShortName()
		}
		more = append(more, e)
	}
	if len(more) > 0 {
		effects = append(effects, more...)
		slices.SortFunc(effects, func(a, b report.Effect) int { return object.Compare(a.Object, b.Object) })
	}
	return effects
}

// setRewrittenLater records that a controller rewrites an object only in a later phase, once
// finalizers have been removed from the deleted object that the rewrite follows.
func (s *simulation) setRewrittenLater(e *report.Effect, out *outcome.Outcome, before requiredReleases, phase outcome.Phases) {
	out.Track.Changed = phase
	for _, ref := range out.Because {
		if required := before.releasesAt(ref); required != nil {
			e.Once = required.releases()
			e.Message += " when " + releaseText(e.Object, e.Once[0], len(e.Once))
			return
		}
	}
}

// findUnknownCause returns the object that causes a deletion in the later future, if its own
// outcome is unknown, or if it depends on an unknown one. In a (unknown) → b → c, it returns b for
// c: c may then be deleted at once. on contains the outcomes visited so far.
func (s *simulation) findUnknownCause(last *outcome.Outcome, all *outcome.Outcomes, on map[*outcome.Outcome]bool) (object.Ref, bool) {
	if last.Result != report.Deleted || on[last] {
		return object.Ref{}, false
	}
	on[last] = true // a cycle finds nothing
	for _, ref := range last.Because {
		out, next := s.judge.Of(all, ref), s.judge.Of(s.futures.last, ref)
		if out != nil && out.Result == report.Unknown {
			return ref, true
		}
		if out == nil && next != nil {
			if _, unknown := s.findUnknownCause(next, all, on); unknown {
				return ref, true
			}
		}
	}
	return object.Ref{}, false
}

// futureReleases contains the finalizers that hold objects at first, and after the expected future.
type futureReleases struct {
	first, expected requiredReleases
	// unions caches the union of the two sets of an object.
	unions unionCache
	// all contains all finalizers that are removed, for objects with an unknown set of their own.
	all *releaseSet
}

func (s *simulation) futureReleases(all *outcome.Outcomes) futureReleases {
	h := futureReleases{first: s.requiredReleases(s.futures.first), expected: s.requiredReleases(all), unions: unionCache{}}
	h.all = newReleaseSet(slices.Concat(s.futures.expectedReleases, s.futures.otherReleases))
	if h.all == nil {
		h.all = newReleaseSet(s.futures.releasesOfAwaited)
	}
	return h
}

// releasesFor returns the finalizers that must be removed before an object reaches the outcomes of
// its effect.
func (h futureReleases) releasesFor(o *object.Object, e *report.Effect) *releaseSet {
	switch {
	case e.Later == "":
		return h.first.releasesFor(o)
	case e.AtOnce == "":
		return h.expected.releasesFor(o)
	}
	return h.unions.union(h.first.releasesFor(o), h.expected.releasesFor(o))
}

// setFutureOutcomes sets AtOnce, Later and Once of an effect, and adds them to its message. An
// object without an outcome at once stays, or stays blocked if it was being deleted before. An effect that
// happens anyway is ours if the later outcome is: secret/a loses its reference to an owner that is gone, and
// later goes with the namespace that we delete.
func (s *simulation) setFutureOutcomes(e *report.Effect, tr *outcome.Track, h futureReleases) {
	last := s.judge.OfObject(s.futures.last, tr.First)
	laterIsOurs := last != nil && !last.AlreadyHappening && endsInDeletion(last.Result) && !endsInDeletion(e.Outcome)
	if e.AlreadyHappening && !laterIsOurs || e.Outcome == report.Unknown {
		return
	}
	e.AlreadyHappening = false
	if len(s.futures.expectedReleases)+len(s.futures.releasesOfAwaited) > 0 {
		at := report.Kept
		if tr.First.BeingDeleted() {
			at = report.Blocked
		}
		if first := s.judge.OfObject(s.futures.first, tr.First); first != nil {
			at = first.Result
		}
		if at != e.Outcome {
			e.AtOnce = at
		}
	}
	if last != nil && last.Result != e.Outcome {
		e.Later = last.Result
	}
	if e.AtOnce == "" && e.Later == "" {
		return
	}
	required := h.releasesFor(tr.First, e)
	switch _, refused := s.futures.refused[tr.First.Ref]; {
	case refused && e.Outcome == report.Kept: // its own write was refused: it waits for the recovery alone
		required = noReleases
	case required == nil: // its own set is unknown: all of them
		required = h.all
	}
	if e.Later == "" {
		required = required.onlyRunning()
	}
	e.Once = required.releases()
	e.Message += required.messageSuffix(e, s.futures.recovery)
}

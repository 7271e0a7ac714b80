package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// report returns the plan of the expected future. addLater completes it.
func (s *simulation) report(all *outcome.Outcomes) *report.Plan {
	s.attribution.markUnrelated(all)
	s.attribution.markAnyway(all, expected)
	s.judge.AddRewritten(all)
	scope := s.namespaceScope()
	if s.options.OnlyNear && s.seed.Verb != Collect {
		scope = scope.limitedTo(s.seed.Targets, all)
	}
	p := &report.Plan{
		Header:  report.HeaderOf("Plan"),
		Source:  SourceOf(s.snap),
		Rules:   s.options.Rules.String(),
		Seed:    report.Seed{Verb: string(s.seed.Verb), Policy: s.seed.policy(), GracePeriodSeconds: s.seed.Grace, Finalizers: s.seed.Finalizers, Targets: []object.Ref{}},
		Effects: s.effects(slices.DeleteFunc(s.sortOutcomes(all), func(out *outcome.Outcome) bool { return !scope.includes(out) })...),
		Stuck:   scope.filterStuck(s.stuck()),
		Gaps:    []report.Gap{},
	}
	if e := s.exploration; e != nil {
		p.Exploration, p.Explored = e, e.Schedules+e.Memories
	}
	if u := s.seed.Uninstall; u != nil {
		p.Seed.Uninstall = &u.document
	}
	if s.options.Record.hasSteps() {
		p.Steps = s.steps()
	}
	for _, ref := range s.seed.Targets {
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			ref = o.Ref
		}
		p.Seed.Targets = append(p.Seed.Targets, ref)
	}
	return p
}

// addLater adds the later future to a plan, and what is concluded from the whole.
func (s *simulation) addLater(p *report.Plan, all *outcome.Outcomes) {
	p.Effects = s.addFutureEffects(p.Effects, all)
	s.account().addConsequences(p.Effects, all)
	s.addGaps(p)
	p.Summary = summarise(p.Effects)
	delayRecreation(s.snap, s.options.Health, p)
	p.Broken, p.UnreadReferrers = breakagesOf(s.snap, s.options.Health, p)
	storage{snap: s.snap, forCollection: s.seed.Verb == Collect}.addTo(p)
	p.Outside = s.outside(p)
	p.Remedies = s.remedies()
	p.Manager, p.Collector = s.managerState(p), s.decidingCollector(p)
	p.Source.VersionDifferences = s.versionDifferences(p)
	p.Digest = digest(s.snap, s.seed, s.options.Guards, p)
}

// managerState returns the state of kube-controller-manager's lease if it is not known to be
// running and a deletion or change in the plan needs it. Empty otherwise.
func (s *simulation) managerState(p *report.Plan) report.ControllerVerdict {
	assessment := s.options.Health // recoverControllers has cleared that of simHealth
	if assessment == nil {
		return ""
	}
	// A collection by our own collector needs it only for namespaces. So does a plan with a
	// collector that was requested to run.
	c := s.assumedCollector
	collectorRuns := s.ourCollector() || c.requested && c.state != report.CollectorStopped
	stands := assessment.ManagerState()
	if stands != report.FinalizerControllerGone && stands != report.FinalizerControllerUnknown {
		return ""
	}
	targets := map[object.Ref]bool{}
	for _, ref := range p.Seed.Targets {
		targets[ref] = true
	}
	for i := range p.Effects {
		e := &p.Effects[i]
		changes := e.Outcome == report.Deleted || e.Outcome == report.Orphaned || e.Outcome == report.Pruned || isRewritten(e)
		if changes && (e.Object.Is(object.Namespace) || !collectorRuns && !targets[e.Object]) {
			return stands
		}
	}
	return ""
}

// sortOutcomes returns outcomes in object.Compare order. The objects of a snapshot have that order
// already. Other objects follow them.
func (s *simulation) sortOutcomes(all *outcome.Outcomes) []*outcome.Outcome {
	if all == nil {
		return nil
	}
	list, more := make([]*outcome.Outcome, 0, all.Len()), false
	for key, out := range all.All() {
		list, more = append(list, out), int(key) >= len(s.snap.Objects)
	}
	if more {
		slices.SortFunc(list, func(a, b *outcome.Outcome) int { return object.Compare(a.Track.First.Ref, b.Track.First.Ref) })
	}
	return list
}

// effects returns the effects of these outcomes, in the same order.
func (s *simulation) effects(sorted ...*outcome.Outcome) []report.Effect {
	end := &finalState{simulation: s}
	m := messenger{knowsKindsOf: s.snap.KnowsKindsOf, collectorStopped: s.assumedCollector.writesNothing(), tracks: s.tracks, words: s.recorder.words}
	effects := make([]report.Effect, len(sorted))
	var sibling *report.Effect
	for i, out := range sorted {
		effects[i] = report.Effect{
			Object: out.Track.First.Ref, Outcome: out.Result, Reason: out.Reason,
			AlreadyHappening: out.AlreadyHappening, DependsOnTiming: out.DependsOnTiming, Otherwise: out.Otherwise(), Assumptions: out.Assumptions,
		}
		if b := out.Blocked; b != nil && out.Result != report.Deleted {
			effects[i].BlockedBy = b
		}
		if sibling != nil && isSameDelete(out, sibling) {
			effects[i].Because, effects[i].Message = sibling.Because, sibling.Message
		} else {
			effects[i].Because, effects[i].RemovedReferences = refs(out.Because), refs(out.Removed)
			effects[i].Message = m.message(&effects[i], out.Detail)
			sibling = nil
			if isPlainDelete(out) {
				sibling = &effects[i]
			}
		}
		s.addExpiry(&effects[i], out.Track.First)
		end.addRecreator(&effects[i], out.Track.First)
	}
	return effects
}

// isPlainDelete reports whether an object is deleted because of exactly one other object, with
// nothing to add. Such objects with the same cause and reason share a message.
func isPlainDelete(out *outcome.Outcome) bool {
	return out.Result == report.Deleted && len(out.Because) == 1 && len(out.Removed) == 0 && out.Detail == "" && !out.DependsOnTiming
}

// isSameDelete reports whether an object is deleted with the same object as that of e, for the same
// reason.
func isSameDelete(out *outcome.Outcome, e *report.Effect) bool {
	return isPlainDelete(out) && out.Reason == e.Reason && e.Because[0] == out.Because[0]
}

func refs(list []object.Ref) []object.Ref {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, object.Compare)
	return slices.Clone(list)
}

func summarise(effects []report.Effect) report.Summary {
	var sum report.Summary
	counts := map[report.Count]int{}
	for i := range effects {
		e := &effects[i]
		*countOf(&sum, e.Outcome)++
		counts[report.Count{APIVersion: e.Object.APIVersion, Kind: e.Object.Kind, Namespace: e.Object.Namespace, Outcome: e.Outcome}]++
	}
	sum.ByKind = make([]report.Count, 0, len(counts))
	for c, n := range counts {
		c.Count = n
		sum.ByKind = append(sum.ByKind, c)
	}
	slices.SortFunc(sum.ByKind, func(a, b report.Count) int {
		return cmp.Or(strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(string(a.Outcome), string(b.Outcome)))
	})
	return sum
}

func countOf(sum *report.Summary, o report.Outcome) *int {
	switch o {
	case report.Deleted:
		return &sum.Deleted
	case report.Orphaned:
		return &sum.Orphaned
	case report.Pruned:
		return &sum.Pruned
	case report.Blocked:
		return &sum.Blocked
	case report.Unknown:
		return &sum.Unknown
	default:
		return &sum.Kept
	}
}

// SourceOf describes where a snapshot comes from.
func SourceOf(snap *snapshot.Snapshot) report.Source {
	src := report.Source{
		Type: "files", Files: snap.Source.Files, KubernetesVersion: snap.Source.KubernetesVersion,
		TakenAt: snap.Source.TakenAt, ClusterUID: snap.Source.ClusterUID,
	}
	v := snap.Version()
	src.Rules = release.MinorOf(v.Exact).Nearest().String()
	if v.Exact == "" {
		src.VersionAtLeast, src.VersionAtMost = release.Minor(v.Least).String(), release.Minor(v.Most).String()
	}
	for _, f := range v.From {
		src.VersionFrom = append(src.VersionFrom, string(f))
	}
	if snap.Source.Server != "" {
		src.Type, src.Server, src.Context, src.Namespaces = "cluster", snap.Source.Server, snap.Source.Context, snap.Source.Namespaces
	}
	return src
}

// namespaceScope limits a plan to the namespaces that its request can affect.
type namespaceScope struct {
	collects    bool
	notAskedFor func(*object.Object) bool
	attribution *attribution
	// namespaces are those of the targets and of the objects that the request affects. The empty
	// one means cluster-scoped objects. nil means all namespaces.
	namespaces map[string]bool
}

func (s *simulation) namespaceScope() namespaceScope {
	return namespaceScope{collects: s.seed.Verb == Collect, notAskedFor: s.notAskedFor, attribution: &s.attribution}
}

// limitedTo limits the scope to the namespaces of the targets and of the outcomes that the request
// causes.
func (n namespaceScope) limitedTo(targets []object.Ref, all *outcome.Outcomes) namespaceScope {
	n.namespaces = map[string]bool{}
	for _, ref := range targets {
		n.namespaces[ref.Namespace] = true
	}
	for _, out := range all.All() {
		if !out.AlreadyHappening || out.Anyway {
			n.namespaces[out.Track.First.Namespace] = true
		}
	}
	return n
}

// includes reports whether an outcome belongs in the plan. For a collection in some namespaces,
// garbage, protected objects and earlier deletions elsewhere don't, unless they follow from what it
// does there.
func (n namespaceScope) includes(out *outcome.Outcome) bool {
	o := out.Track.First
	switch {
	case n.collects:
		return !n.notAskedFor(o) || n.attribution.reaches(o)
	case n.namespaces == nil:
		return true
	default:
		return !out.AlreadyHappening || out.Anyway || n.namespaces[o.Namespace]
	}
}

// filterStuck removes attempts in namespaces that the request cannot affect.
func (n namespaceScope) filterStuck(all []report.Stuck) []report.Stuck {
	if n.collects || n.namespaces == nil {
		return all
	}
	return slices.DeleteFunc(all, func(s report.Stuck) bool { return s.Object.Namespace != "" && !n.namespaces[s.Object.Namespace] })
}

// finalState is the end of a simulation, as the input of controllers.ComesBack.
type finalState struct {
	*simulation
	// last is the result of the previous Find: siblings look up the same owner.
	last struct {
		ref      object.Ref
		object   *object.Object
		standing controllers.Standing
	}
	// nodeless is true if no node is left that runs new pods. It is computed on first use.
	nodeless, nodelessKnown bool
	// makers has the objects that makersOf returns, by what they name. It is computed on first use.
	makers map[object.Coordinates][]object.Ref
}

// Find returns the object that the snapshot has at the coordinates, in its last state, and whether
// it still exists.
func (s *finalState) Find(ref object.Ref) (*object.Object, controllers.Standing) {
	if s.last.ref != ref {
		s.last.ref = ref
		s.last.object, s.last.standing = s.lookup(ref)
	}
	return s.last.object, s.last.standing
}

// lookup is Find without its cache. An object that the snapshot lacks is Gone if its kind is
// covered.
func (s *finalState) lookup(ref object.Ref) (*object.Object, controllers.Standing) {
	o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		if r, err := s.recorder.Resource(ref.APIVersion, ref.Kind); err == nil && s.snap.Covers(r, ref.Namespace) {
			return nil, controllers.Gone
		}
		return nil, controllers.Unseen
	}
	if tr := s.tracks.Known(o); tr != nil {
		o = tr.Last
	}
	if o == nil || o.BeingDeleted() {
		return nil, controllers.Gone
	}
	return o, controllers.Lives
}

// Rules returns the rules of the cluster's release.
func (s *finalState) Rules() release.Rules { return s.snap.Version().Rules() }

// Definition returns the CustomResourceDefinition that serves an API version and still exists at
// the end.
func (s *finalState) Definition(apiVersion string) object.Ref {
	for _, r := range s.snap.Resources.All() {
		if r.APIVersion() != apiVersion || r.Group == "" {
			continue
		}
		ref := s.snap.RefTo(object.CRD, "", r.Name+"."+r.Group)
		if o, standing := s.Find(ref); standing == controllers.Lives {
			return o.Ref
		}
	}
	return object.Ref{}
}

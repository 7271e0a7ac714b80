package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// An outside resource is deleted by the controller of its object, before the controller removes its
// finalizer. For a bucket of Crossplane with spec.deletionPolicy Orphan, the controller only removes
// the finalizer.
//
//	request          DELETE bucket/b1     it is marked, and its finalizer holds it
//	Crossplane       deletes the bucket   in the cloud, with everything in it
//	Crossplane       PATCH  bucket/b1     the finalizer is removed, and it goes
//
// A finalizer that is removed by hand leaves the outside resource behind.

// outside returns the outside resources of the objects that the account deletes or may delete.
func (s *simulation) outside(p *report.Plan) []report.Outside {
	var list []report.Outside
	along := s.snap.Cursor()
	for e := range p.Account() {
		if !e.IsDeleted() {
			continue
		}
		o := along.Find(e.Object)
		if o == nil || o.UID != e.Object.UID {
			continue
		}
		for _, of := range finalizer.OutsidesOf(o) {
			list = append(list, s.outsideOf(o, of, e.Consequence.Certainty))
		}
	}
	return list
}

// LacksOutside reports whether the fields of an object that decide about its outside resource were
// not read.
func LacksOutside(o *object.Object) bool {
	of, ok := finalizer.OutsideOf(o)
	return ok && of.NeedsSpec() && o.Outside() == nil && object.HasOutsideFacts(o.Group(), o.Kind)
}

// outsideOf returns the outside resource of an object of the account, and its outcome.
func (s *simulation) outsideOf(o *object.Object, of finalizer.Outside, certainty report.Certainty) report.Outside {
	facts := o.Outside()
	if facts == nil {
		facts = s.options.Outside[o.UID]
	}
	if h := s.options.Health; of.ByFlag() && h != nil {
		facts = h.DNSFacts()
	}
	result := of.OutcomeOf(o, s.snap.FindKind(object.Namespace, "", o.Namespace), facts)
	byHand := s.seed.Verb == RemoveFinalizer && slices.Contains(s.seed.Finalizers, of.Finalizer) && s.targets(o.Ref)
	switch {
	case byHand && result.Outcome != report.Kept:
		result.Outcome, result.Why = report.Kept, finalizer.LeftBehind
	case result.Outcome == report.Deleted && of.Finalizer != "" && s.doubts(o, of.Finalizer) != "":
		result.Outcome, result.Why = report.Unknown, s.doubts(o, of.Finalizer)
	case result.Outcome == report.Deleted && certainty != report.Sure:
		result.Outcome, result.Why = report.Unknown, "the object may stay"
	}
	x := report.Outside{
		Object: o.Ref, What: of.What, Data: of.Data, Outcome: result.Outcome, Finalizer: of.Finalizer,
		Field: result.Field, Value: result.Value, Default: result.Default, Why: result.Why, Source: of.Source(),
	}
	x.Message = outsideMessage(&x)
	return x
}

// targets reports whether an object is one of the targets.
func (s *simulation) targets(ref object.Ref) bool {
	return slices.ContainsFunc(s.seed.Targets, func(t object.Ref) bool { return t.WithoutUID() == ref.WithoutUID() })
}

// doubts returns why the controller of a finalizer may not delete an outside resource, and what becomes of
// that then; empty if it was seen running, or if it is simulated.
func (s *simulation) doubts(o *object.Object, name string) string {
	if s.controllers.removesFinalizer(name) {
		return ""
	}
	switch r := s.finalizerControllers.withController(o, report.Release{Object: o.Ref, Finalizer: name, State: report.ControllerUnknown}); r.State {
	case report.ControllerGone:
		return "its controller is not running: " + finalizer.LeftBehindIf(name)
	case report.ControllerPaused:
		return r.Why
	case report.ControllerUnknown:
		if r.Why != "" {
			return r.Why
		}
		return "its controller may not be running: " + finalizer.LeftBehindIf(name)
	case report.ControllerGuards:
		return "its controller waits as long as something uses it"
	default:
		return ""
	}
}

// outsideMessage returns the outcome, and why: "deleted (spec.deletionPolicy: Delete)".
func outsideMessage(x *report.Outside) string {
	text := strings.ToLower(string(x.Outcome))
	if x.Field == "" {
		return strings.TrimSuffix(text+": "+x.Why, ": ")
	}
	return strings.TrimSuffix(text+" ("+x.Decision(x.Field)+"); "+x.Why, "; ")
}

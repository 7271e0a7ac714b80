package cli_test

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// contradictions compares the answers pair by pair. These answers contradict each other:
//
//	collect  stuck     an error of stuck that is Deleted; an end without intervention that is Blocked; an
//	                   unknown end that the plan knows; an object being deleted that is Kept
//	collect  explain   Garbage that is not Deleted, Live that is, Undecidable that is not Unknown
//	collect  check     Deleted for lack of owners although check finds no fault with a remaining one,
//	                   Kept by an owner that check calls absent
//	collect  doctor    garbage left behind that is not Deleted
//	collect  dry-run   different outcomes without the request
//	stuck    explain   different ends; an object being deleted that stuck does not list
//	stuck    check     a dependent that keeps its owner waiting although check calls its owners absent
//	stuck    doctor    a garbage collector that does not run, and no problem
//	stuck    dry-run   as collect, for outcomes without the request
//	explain  check     a class of an owner reference that does not match the finding
//	explain  doctor    garbage that only one of them reports
//	explain  dry-run   a delete that takes the object in only one of them
//	check    doctor    garbage with an owner that check does not call absent
//	check    dry-run   an object deleted because of the request although its owners are all absent
//	doctor   dry-run   garbage that is deleted because of the request, or that stays
//	risk     dry-run   different numbers of objects that a delete takes
func (a *commandAnswers) contradictions() []string {
	var found []string
	say := func(ref object.Ref, format string, args ...any) {
		found = append(found, ref.FullName()+": "+fmt.Sprintf(format, args...))
	}
	a.compareDoctor(say)
	for ref, x := range a.explained {
		a.compareReferences(say, x)
		a.compareVerdict(say, x)
		a.compareTakers(say, x)
		if e := effectOn(&a.collect, ref); e != nil {
			a.compareEnds(say, "collect", a.collect.Manager, e)
			a.compareOwners(say, x, e)
		}
	}
	for target, p := range a.deletes {
		for i := range p.Effects {
			if p.Effects[i].Object != target {
				a.comparePlans(say, "dry-run delete "+target.FullName(), p, &p.Effects[i])
			}
		}
	}
	for _, r := range a.ranks {
		for i := range r.Items {
			a.compareTolls(say, &r.Items[i])
		}
	}
	return found
}

// compareTolls compares the numbers of risk with the account of the plan for the same delete.
func (a *commandAnswers) compareTolls(say sayer, item *report.RiskItem) {
	p := a.deletes[item.Object]
	if p == nil {
		return
	}
	var want report.RiskItem
	for i := range p.Effects {
		e := &p.Effects[i]
		c := e.Consequence
		switch {
		case c == nil, c.Change != report.ChangeDeleted, c.Anyway && e.Object != item.Object:
		case c.Certainty == report.Undecided:
			want.Unknown++
		case e.Outcome == report.Blocked && len(e.Once) == 0:
			want.Blocked++
		default:
			want.Takes.Objects++
			if e.Outcome != report.Deleted {
				want.Later++
			}
		}
	}
	got := report.RiskItem{Takes: report.Toll{Objects: item.Takes.Objects}, Later: item.Later, Blocked: item.Blocked, Unknown: item.Unknown}
	if diff := cmp.Diff(want, got); diff != "" {
		say(item.Object, "(-dry-run delete +risk)\n%s", diff)
	}
}

// sayer receives a contradiction about an object.
type sayer func(ref object.Ref, format string, args ...any)

// compareEnds compares the ends of stuck with a plan without a request. If the state of
// kube-controller-manager is unknown, the plan says so once, not for each object.
func (a *commandAnswers) compareEnds(say sayer, command string, manager report.ControllerVerdict, e *report.Effect) {
	ends := findingsOn(a.stuck.Findings, e.Object)
	if len(ends) == 0 {
		return
	}
	worst := reason.Info
	for _, f := range ends {
		if f.Severity == reason.Error || f.Severity == reason.Warning && worst == reason.Info {
			worst = f.Severity
		}
	}
	switch {
	case e.Outcome == report.Kept || e.Outcome == report.Orphaned || e.Outcome == report.Pruned,
		worst == reason.Error && (e.Outcome == report.Deleted || e.Outcome == report.Unknown && !saysTheSame(e, ends[0])),
		worst == reason.Info && (e.Outcome == report.Blocked && !waitsForController(ends, e) || e.Outcome == report.Unknown),
		worst == reason.Warning && e.Outcome == report.Deleted && manager != report.FinalizerControllerUnknown:
		say(e.Object, "stuck: %s %s %s; %s: %s %s", worst, ends[0].Code, ends[0].Message, command, e.Outcome, e.Message)
	}
}

// saysTheSame reports whether a plan leaves the end of an object open for the reason that stuck
// gives.
func saysTheSame(e *report.Effect, f report.Finding) bool {
	return e.Reason == f.Code || reason.Code(f.Code) == reason.DeletionForgotten && reason.Code(e.Reason) == reason.DeletionMissed
}

// waitsForController reports whether an object waits only for finalizers with running controllers.
// A plan that does not request the end of the object names what holds it until then.
func waitsForController(ends []report.Finding, e *report.Effect) bool {
	return e.AtOnce == "" && !slices.ContainsFunc(ends, func(f report.Finding) bool { return reason.Code(f.Code) != reason.FinalizerControllerAlive })
}

// compareVerdict compares the verdict of explain with collect, stuck and doctor.
func (a *commandAnswers) compareVerdict(say sayer, x *report.Explanation) {
	deleted := x.Verdict == report.BeingDeleted || x.Verdict == report.WaitingForDependents || x.Verdict == report.HeldByFinalizer
	ends := findingsOn(a.stuck.Findings, x.Object)
	switch {
	case deleted != (len(ends) > 0) && x.Verdict != report.Undecidable:
		say(x.Object, "explain: %s; stuck has %d ends", x.Verdict, len(ends))
	case len(x.WaitsFor) != len(ends) || !slices.EqualFunc(x.WaitsFor, ends, func(a, b report.Finding) bool { return a.Code == b.Code && a.Message == b.Message }):
		say(x.Object, "explain and stuck: other ends")
	}
	switch reason.Code(x.Reason) {
	case reason.SharedUID, reason.NotObserved:
		return // a plan ignores objects that the garbage collector can't distinguish or does not watch
	case reason.Undeployed:
		return // a collection has only what happens before finalizers are removed
	}
	outcome := report.Kept // objects that a plan does not list stay
	e := effectOn(&a.collect, x.Object)
	if e != nil {
		outcome = e.Outcome
	}
	fits := map[report.Verdict][]report.Outcome{
		report.Live:                 {report.Kept, report.Pruned, report.Orphaned},
		report.Garbage:              {report.Deleted, report.Blocked},
		report.Undecidable:          {report.Unknown},
		report.BeingDeleted:         {report.Deleted, report.Blocked, report.Unknown},
		report.WaitingForDependents: {report.Deleted, report.Blocked, report.Unknown},
		report.HeldByFinalizer:      {report.Deleted, report.Blocked, report.Unknown},
	}
	if !slices.Contains(fits[x.Verdict], outcome) && (e == nil || x.Verdict != report.Garbage || e.Reason != x.Reason) {
		say(x.Object, "explain: %s %s %s; collect: %s", x.Verdict, x.Reason, x.Message, wordsOf(e))
	}
	left := slices.ContainsFunc(findingsOn(a.doctor.Findings, x.Object), isLeft)
	if ownerless := x.Verdict == report.Garbage && reason.Code(x.Reason) == reason.NoExistingOwner; ownerless != left && e != nil {
		say(x.Object, "explain: %s %s; doctor calls it left behind: %v", x.Verdict, x.Reason, left)
	}
}

// compareReferences compares the owners of explain with the findings of check.
func (a *commandAnswers) compareReferences(say sayer, x *report.Explanation) {
	for _, owner := range x.Owners {
		code := a.faultOf(x.Object, owner.Ref)
		class := report.Existing
		switch {
		case isAbsent(code):
			class = report.Dangling
		case code != "":
			class = report.UnknownClass
		case owner.Class == report.Waiting:
			class = report.Waiting
		}
		if owner.Class != class {
			say(x.Object, "explain: owner %s: %s, %s; check: %s", owner.Ref.FullName(), owner.Class, owner.Evidence, code)
		}
	}
}

// compareOwners compares the outcome of an object because of its owners with the findings of check.
func (a *commandAnswers) compareOwners(say sayer, x *report.Explanation, e *report.Effect) {
	if reason.Code(e.Reason) != reason.NoExistingOwner && reason.Code(e.Reason) != reason.ExistingOwner {
		return
	}
	stays := false
	for _, owner := range x.Owners {
		gone := isAbsent(a.faultOf(x.Object, owner.Ref))
		if o := effectOn(&a.collect, owner.Ref); o != nil {
			gone = gone || o.Outcome == report.Deleted
		}
		stays = stays || !gone
	}
	if stays != (reason.Code(e.Reason) == reason.ExistingOwner) {
		say(x.Object, "collect: %s; check: an owner stays: %v", wordsOf(e), stays)
	}
}

// compareTakers compares the deletes that take an object with their plans.
func (a *commandAnswers) compareTakers(say sayer, x *report.Explanation) {
	for _, taker := range x.TakenBy {
		p := a.deletes[taker.Object]
		if p == nil || taker.Policy != "Background" {
			continue
		}
		e := effectOn(p, x.Object)
		outcome := []report.Outcome{report.Deleted}
		if taker.Unknown {
			outcome = []report.Outcome{report.Unknown, report.Blocked}
		}
		if e == nil || !slices.Contains(outcome, e.Outcome) && (taker.Unknown || e.Later != report.Deleted) {
			say(x.Object, "explain: taken by %s, unknown %v; its plan: %s", taker.Object.FullName(), taker.Unknown, wordsOf(e))
		}
	}
	if x.TakersUntried > 0 || x.Verdict != report.Live {
		return
	}
	for target, p := range a.deletes {
		e := effectOn(p, x.Object)
		if target == x.Object || e == nil || e.AlreadyHappening || e.Outcome != report.Deleted {
			continue
		}
		if !slices.ContainsFunc(x.TakenBy, func(t report.Taker) bool { return t.Object == target }) {
			say(x.Object, "explain: not taken by %s; its plan: %s", target.FullName(), wordsOf(e))
		}
	}
}

// comparePlans compares the plan of a delete with what other commands predict without it.
func (a *commandAnswers) comparePlans(say sayer, command string, p *report.Plan, e *report.Effect) {
	anyway := e.AlreadyHappening || e.Consequence != nil && e.Consequence.Anyway
	if e.AlreadyHappening {
		a.compareEnds(say, command, p.Manager, e)
		if c := effectOn(&a.collect, e.Object); c == nil || c.Outcome != e.Outcome {
			say(e.Object, "collect: %s; %s, without that: %s", wordsOf(c), command, wordsOf(e))
		}
	}
	if slices.ContainsFunc(findingsOn(a.doctor.Findings, e.Object), isLeft) && (!anyway || e.Outcome != report.Deleted && e.Outcome != report.Blocked) {
		say(e.Object, "doctor: left behind; %s: anyway %v, %s", command, anyway, wordsOf(e))
	}
	x := a.explained[e.Object]
	if x == nil || len(x.Owners) == 0 || anyway || e.Outcome != report.Deleted || reason.Code(e.Reason) != reason.NoExistingOwner {
		return
	}
	if !slices.ContainsFunc(x.Owners, func(o report.OwnerFinding) bool { return !isAbsent(a.faultOf(x.Object, o.Ref)) }) {
		say(e.Object, "check: no owner exists; %s: %s", command, wordsOf(e))
	}
}

// compareDoctor compares the verdict of doctor with the other commands, and its findings with those
// of check.
func (a *commandAnswers) compareDoctor(say sayer) {
	fine := a.doctor.Verdict == report.CollectorWorking || a.doctor.Verdict == report.CollectorNoProblemFound
	for _, f := range a.stuck.Findings {
		code := reason.Code(f.Code)
		stands := code == reason.CollectorNotWorking || code == reason.ManagerNotSeen || code == reason.DeletionForgotten
		proven := code == reason.CollectorNotWorking && f.Verdict == report.FinalizerControllerGone
		if stands && fine || proven && a.doctor.Verdict != report.CollectorNotWorking {
			say(f.Object, "stuck: %s, proven %v; doctor: %s", code, proven, a.doctor.Verdict)
		}
	}
	if a.collect.Manager == report.FinalizerControllerGone && a.doctor.Verdict != report.CollectorNotWorking || a.collect.Manager != "" && fine {
		say(object.Ref{Kind: "Cluster"}, "collect: kube-controller-manager %s; doctor: %s", a.collect.Manager, a.doctor.Verdict)
	}
	for target, p := range a.deletes {
		if p.Manager == report.FinalizerControllerGone && a.doctor.Verdict != report.CollectorNotWorking || p.Manager != "" && fine {
			say(target, "dry-run delete: kube-controller-manager %s; doctor: %s", p.Manager, a.doctor.Verdict)
		}
	}
	for _, f := range a.doctor.Findings {
		x := a.explained[f.Object]
		if !isLeft(f) || x == nil {
			continue
		}
		for _, owner := range x.Owners {
			if code := a.faultOf(f.Object, owner.Ref); !isAbsent(code) {
				say(f.Object, "doctor: %s %s; check of %s: %s", f.Code, f.Message, owner.Ref.FullName(), code)
			}
		}
	}
}

// faultOf returns the fault of a reference from check; empty if there is none.
func (a *commandAnswers) faultOf(object, owner object.Ref) reason.Code {
	for _, f := range a.check.Findings {
		code := reason.Code(f.Code)
		if f.Object == object && f.Reference != nil && *f.Reference == owner && (isAbsent(code) || isOpen(code)) {
			return code
		}
	}
	return ""
}

// isAbsent reports whether the garbage collector counts an owner with that fault as absent.
func isAbsent(code reason.Code) bool {
	switch code {
	case reason.OwnerNotFound, reason.OwnerUIDMismatch, reason.OwnerKindMismatch, reason.OwnerNameMismatch, reason.OwnerNamespaceMismatch, reason.OwnerKindNotServed:
		return true
	}
	return false
}

// isOpen reports whether the garbage collector leaves an owner with that fault undecided.
func isOpen(code reason.Code) bool {
	switch code {
	case reason.OwnerNamespaced, reason.OwnerKindUnknown, reason.OwnerVersionNotServed, reason.OwnerNotCovered:
		return true
	}
	return false
}

// isLeft reports whether a finding of doctor is about an object with absent owners.
func isLeft(f report.Finding) bool {
	switch reason.Code(f.Code) {
	case reason.GarbageOld, reason.GarbageLeft, reason.GarbageYoung:
		return true
	}
	return false
}

func findingsOn(all []report.Finding, ref object.Ref) (list []report.Finding) {
	for _, f := range all {
		if f.Object == ref {
			list = append(list, f)
		}
	}
	return list
}

func effectOn(p *report.Plan, ref object.Ref) *report.Effect {
	if i := slices.IndexFunc(p.Effects, func(e report.Effect) bool { return e.Object == ref }); i >= 0 {
		return &p.Effects[i]
	}
	return nil
}

func wordsOf(e *report.Effect) string {
	if e == nil {
		return "nothing"
	}
	return string(e.Outcome) + " " + e.Reason + " " + e.Message
}

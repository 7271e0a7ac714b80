package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/check"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/stuck"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/unserve"
	"github.com/kubectl-gc/kubectl-gc/internal/doctor"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// wording is what the text of a field may be, where its type does not say so.
type wording struct {
	// words are the values. Where more of them may be added, any word in the same
	// form is valid, too.
	words []string
	grows bool
	// pattern is a form, more that of what may be added, format one that JSON Schema has
	// a name for.
	pattern, more, format string
}

// word is the form of reasons and codes.
const word = "^[A-Z][A-Za-z0-9]*$"

// say puts it into the schema of the field.
func (w wording) say(n *node) {
	known := node{Enum: w.words, Pattern: w.pattern}
	if w.grows {
		n.AnyOf = []*node{&known, {Pattern: w.more}}
	} else {
		n.Enum, n.Pattern = known.Enum, known.Pattern
	}
	n.Format = w.format
}

// vocabulary is the wording of fields, by type and name in JSON. The lists are those
// of docs/reasons.md.
func vocabulary() map[string]wording {
	collector := names(engine.Reasons(), engine.Reason.String)
	plans := slices.Concat(collector, names(plan.Reasons(), func(r plan.ReasonText) string { return string(r.Reason) }))
	checks := names(check.Codes(), func(c diagnose.CodeText) string { return string(c.Code) })
	stucks := names(stuck.Codes(), func(c diagnose.CodeText) string { return string(c.Code) })
	doctors := names(doctor.Codes(), func(c doctor.CodeText) string { return string(c.Code) })
	gaps := names(snapshot.Reasons(), func(r snapshot.ReasonText) string { return string(r.Reason) })
	conditions := growing(names(unserve.Conditions(), func(c unserve.ConditionText) string { return string(c.Condition) }))
	policies := []string{"Background", "Foreground", "Orphan"}
	digest := wording{pattern: "^sha256:[0-9a-f]{64}$"}
	moment := wording{format: "date-time"}
	return map[string]wording{
		"Checkup.earlierTakenAt":        moment,
		"CheckupReason.code":            growing(doctors, names(doctor.Reasons(), func(r doctor.ReasonText) string { return string(r.Code) })),
		"Deadlock.reason":               growing(plans),
		"DependentFinding.state":        closed("Live", "BeingDeleted", "WaitingForDependents"),
		"DroppedReference.reason":       growing(names(undo.DropReasons(), func(r undo.DropReason) string { return string(r) })),
		"Effect.reason":                 growing(plans),
		"Consequence.reason":            growing(plans),
		"EventFinding.last":             moment,
		"Exposed.condition":             conditions,
		"ExposedDependent.reason":       growing(plans),
		"ExposureCondition.condition":   conditions,
		"ExposureConsequence.condition": closed("LookedAt", "InTheEnd"),
		"ExposureNote.note":             growing(names(unserve.Notes(), func(n unserve.NoteText) string { return string(n.Note) })),
		"Explanation.reason":            growing(plans, []string{explain.OwnerIsGarbage}),
		"FinalizerFinding.state":        closed("Waiting", "Idle"),
		"Finding.code":                  growing(checks, stucks, doctors),
		"Finding.since":                 moment,
		"Gap.why":                       {pattern: fmt.Sprintf("^(%s)(: |$)", strings.Join(gaps, "|")), grows: true, more: "^[A-Z][A-Za-z0-9]*(: |$)"},
		"Plan.digest":                   {pattern: "^(sha256:[0-9a-f]{64})?$"},
		"Plan.rules":                    closed("upstream", "strict"),
		"PlannedFinalizer.class":        closed("Collector", "Protection", "Cleanup", "Cloud", "Operator", "Unknown"),
		"Proof.reason":                  growing(names(evidence.ProofReasons(), func(r evidence.ProofText) string { return string(r.Reason) })),
		"Refusal.reason":                growing(names(finalizer.Reasons(), func(r finalizer.ReasonText) string { return string(r.Reason) })),
		"Risk.policy":                   closed(policies...),
		"Run.digest":                    digest,
		"RunWrite.verb":                 closed("DELETE", "PATCH"),
		"SafeDependent.reason":          growing(names(unserve.Reasons(), func(r unserve.ReasonText) string { return string(r.Reason) })),
		"Seed.policy":                   closed(policies...),
		"Seed.verb":                     closed("delete", "collect", "removeFinalizer"),
		"Source.type":                   closed("files", "cluster"),
		"Step.policy":                   closed(policies...),
		"Step.reason":                   growing(plans, []string{""}), // a GET comes before there is one
		"Step.verb":                     closed("GET", "DELETE", "PATCH", "PUT", "DELETECOLLECTION", "REMOVED"),
		"Storage.reclaimPolicy":         closed("Delete", "Retain", "Recycle"),
		"Stuck.reason":                  growing(plans),
		"Taker.policy":                  closed(policies...),
		"Undo.digest":                   digest,
		"UndoNote.reason":               growing(names(undo.Notes(), func(n undo.Note) string { return string(n) })),
		"UndoSkip.reason":               growing(names(undo.SkipReasons(), func(r undo.SkipReason) string { return string(r) })),
		"UndoStep.verb":                 closed("Create", "Restore"),
		"WaitLink.waits":                growing(plans, stucks),
	}
}

func closed(words ...string) wording { return wording{words: words} }

// growing are lists of which each may become longer. A word stands once, wherever it
// occurs.
func growing(lists ...[]string) wording {
	words := slices.Concat(lists...)
	slices.Sort(words)
	return wording{words: slices.Compact(words), grows: true, more: word}
}

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = name(one)
	}
	return out
}

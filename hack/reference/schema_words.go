package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	plans := slices.Concat(reason.Collector.Codes(), reason.Plan.Codes())
	gaps := strings.Join(reason.Gap.Codes(), "|")
	policies := []string{"Background", "Foreground", "Orphan"}
	digest := wording{pattern: "^sha256:[0-9a-f]{64}$"}
	moment := wording{format: "date-time"}
	why := wording{pattern: fmt.Sprintf("^(%s)(: |$)", gaps), grows: true, more: "^[A-Z][A-Za-z0-9]*(: |$)"}
	return map[string]wording{
		"Checkup.earlierTakenAt":  moment,
		"CheckupReason.code":      growing(reason.Doctor.Codes(), reason.Verdict.Codes()),
		"Deadlock.reason":         growing(plans),
		"DependentFinding.state":  closed("Live", "BeingDeleted", "WaitingForDependents"),
		"DroppedReference.reason": growing(reason.UndoDrop.Codes()),
		"Effect.reason":           growing(plans),
		"EventFinding.last":       moment,
		"Explanation.reason":      growing(plans, reason.Explanation.Codes()),
		"FinalizerFinding.state":  closed("Waiting", "Idle"),
		"Finding.code":            growing(reason.Check.Codes(), reason.Stuck.Codes(), reason.Doctor.Codes()),
		"Finding.since":           moment,
		"Gap.why":                 why,
		"HistoryLimit.why":        why,
		"LossCause.code":          growing(reason.Lost.Codes()),
		"Loss.policy":             closed(policies...),
		"LostRequest.policy":      closed(policies...),
		"Moment.time":             moment,
		"Plan.digest":             {pattern: "^(sha256:[0-9a-f]{64})?$"},
		"Plan.rules":              closed("upstream", "strict"),
		"PlannedFinalizer.class":  closed("Collector", "Protection", "Cleanup", "Cloud", "Operator", "Unknown"),
		"Proof.reason":            growing(reason.Proof.Codes()),
		"Refusal.reason":          growing(reason.Refusal.Codes()),
		"Risk.policy":             closed(policies...),
		"Run.digest":              digest,
		"RunWrite.verb":           closed("DELETE", "PATCH"),
		"Seed.policy":             closed(policies...),
		"Seed.verb":               closed("delete", "collect", "removeFinalizer"),
		"Source.type":             closed("files", "cluster"),
		"Step.policy":             closed(policies...),
		"Step.reason":             growing(plans, []string{""}), // a GET comes before there is one
		"Step.verb":               closed("GET", "DELETE", "PATCH", "PUT", "DELETECOLLECTION", "REMOVED"),
		"Storage.reclaimPolicy":   closed("Delete", "Retain", "Recycle"),
		"Stuck.reason":            growing(plans),
		"Taker.policy":            closed(policies...),
		"Undo.digest":             digest,
		"UndoNote.reason":         growing(reason.UndoNote.Codes()),
		"UndoSkip.reason":         growing(reason.UndoSkip.Codes()),
		"UndoStep.verb":           closed("Create", "Restore", "Status", "Overwrite", "Secrets", "Manage"),
		"WaitLink.waits":          growing(plans, reason.Stuck.Codes()),
	}
}

func closed(words ...string) wording { return wording{words: words} }

// growing joins lists that may become longer in later versions. A word stands once, wherever it
// occurs.
func growing(lists ...[]string) wording {
	words := slices.Concat(lists...)
	slices.Sort(words)
	return wording{words: slices.Compact(words), grows: true, more: word}
}

package report

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Diagnosis is a list of findings over a whole snapshot.
type Diagnosis struct {
	Header

	Source   Source         `json:"source"`
	Summary  FindingSummary `json:"summary"`
	Findings []Finding      `json:"findings"`
	Complete bool           `json:"complete"`
	Gaps     []Gap          `json:"gaps"`
}

// FindingSummary counts the objects and references that were examined, and the findings.
type FindingSummary struct {
	Objects    int `json:"objects"`
	References int `json:"references"`
	// FieldReferences counts other fields that name objects, if they were examined.
	FieldReferences int `json:"fieldReferences,omitempty"`
	Errors          int `json:"errors"`
	Warnings        int `json:"warnings"`
	Infos           int `json:"infos"`
}

// Count adds findings to the summary.
func (s *FindingSummary) Count(findings []Finding) {
	for i := range findings {
		switch findings[i].Severity {
		case reason.Error:
			s.Errors++
		case reason.Warning:
			s.Warnings++
		case reason.Info:
			s.Infos++
		}
	}
}

// Finding is one problem, or possible problem, of an object.
type Finding struct {
	// Code is a stable CamelCase code of docs/reasons.md.
	Code      string          `json:"code"`
	Severity  reason.Severity `json:"severity"`
	Object    object.Ref      `json:"object"`
	Reference *object.Ref     `json:"reference,omitempty"`
	Message   string          `json:"message"`
	Evidence  string          `json:"evidence,omitempty"`
	Remedy    string          `json:"remedy,omitempty"`

	// The fields of stuck. Since is when the deletion began, in RFC 3339. ForSeconds is how long
	// that was before the snapshot; absent if the time of the snapshot is unknown.
	Since      string `json:"since,omitempty"`
	ForSeconds *int   `json:"forSeconds,omitempty"`
	// Chain is a sequence: the object, the objects that it waits for, and last the one that must
	// change.
	Chain []WaitLink `json:"chain,omitempty"`
	// More counts further obstacles of the same kind that are not shown.
	More int `json:"more,omitempty"`
	// Finalizer is the finalizer at the end of the chain. Verdict says whether its controller
	// works.
	Finalizer string            `json:"finalizer,omitempty"`
	Verdict   ControllerVerdict `json:"verdict,omitempty"`
	// Proof is the evidence, and what is missing of it, the most important first.
	Proof []Proof `json:"proof,omitempty"`
	// Remedies are commands that would end the wait, the mildest first.
	Remedies []Remedy `json:"remedies,omitempty"`
}

// ControllerVerdict says whether the controller that removes a finalizer works.
type ControllerVerdict string

// The verdicts on controllers.
const (
	// FinalizerControllerAlive: it runs, and could remove the finalizer now.
	FinalizerControllerAlive ControllerVerdict = "Alive"
	// FinalizerControllerSlow: it exists, and does not remove the finalizer.
	FinalizerControllerSlow ControllerVerdict = "Slow"
	// FinalizerControllerGone: everything that could show a controller was read completely, and
	// none runs.
	FinalizerControllerGone ControllerVerdict = "Gone"
	// FinalizerControllerUnknown: the evidence does not decide.
	FinalizerControllerUnknown ControllerVerdict = "Unknown"
)

// WaitLink is one step from a waiting object to the one that must change.
type WaitLink struct {
	object.Ref
	// Waits is why the object waits for the next one: a CamelCase reason of
	// docs/reasons.md. The last link has the code of the finding.
	Waits string `json:"waits"`
}

// Proof is one piece of evidence, or a missing one.
type Proof struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string      `json:"reason"`
	Object  *object.Ref `json:"object,omitempty"`
	Message string      `json:"message"`
}

// UnknownRemover says of a finalizer that nothing is known about its controller.
const UnknownRemover = "unknown whether anything removes it"

// WhyNotRemoved says why a finalizer's controller that exists does not remove it, as a predicate of the controller.
func WhyNotRemoved(proof []Proof) string {
	shows := func(code reason.Code) bool {
		return slices.ContainsFunc(proof, func(p Proof) bool { return reason.Code(p.Reason) == code })
	}
	switch {
	case shows(reason.FinalizerControllerRuns):
		return "is running but does not remove it"
	case shows(reason.FinalizerControllerMayNot):
		return "has no permission to remove it"
	case shows(reason.FinalizerControllerNotReady):
		return "is not ready"
	default:
		return "is running but does not remove it"
	}
}

// CollectorVerdict is the answer to whether the collector of a cluster works.
type CollectorVerdict string

// The verdicts of a Checkup.
const (
	// CollectorWorking: its own graph follows the cluster, and no work is left undone.
	CollectorWorking CollectorVerdict = "Working"
	// CollectorNotWorking: it provably leaves work undone.
	CollectorNotWorking CollectorVerdict = "NotWorking"
	// CollectorNoProblemFound: everything was checked, and no sign of a problem was found.
	CollectorNoProblemFound CollectorVerdict = "NoProblemFound"
	// CollectorUnknown: the evidence does not decide.
	CollectorUnknown CollectorVerdict = "Unknown"
)

// Checkup is the answer to whether the collector of a cluster works, and why.
type Checkup struct {
	Header

	Source  Source           `json:"source"`
	Verdict CollectorVerdict `json:"verdict"`
	// Reasons are the basis of the verdict, the most severe first.
	Reasons []CheckupReason `json:"reasons"`
	// PatienceSeconds is how long the collector may take for its work before that counts as a
	// problem.
	PatienceSeconds int64 `json:"patienceSeconds"`
	// EarlierTakenAt is the time of the earlier dump that this one was compared with.
	EarlierTakenAt string           `json:"earlierTakenAt,omitempty"`
	Graph          *GraphComparison `json:"graph,omitempty"`
	Summary        FindingSummary   `json:"summary"`
	Findings       []Finding        `json:"findings"`
	Complete       bool             `json:"complete"`
	Gaps           []Gap            `json:"gaps"`
}

// CheckupReason is one reason for a verdict.
type CheckupReason struct {
	// Code is the code of findings, or a verdict reason of docs/reasons.md.
	Code string `json:"code"`
	// Count is the number of findings with the code; 0 if the reason is not a finding.
	Count   int    `json:"count,omitempty"`
	Message string `json:"message"`
}

// GraphComparison says how far the graph of the collector and the snapshot agree.
type GraphComparison struct {
	// From is the file or URL that the graph was read from.
	From  string `json:"from"`
	Nodes int    `json:"nodes"`
	Edges int    `json:"edges"`
	// Compared is the number of objects that are in the snapshot and in the graph of the collector.
	Compared int `json:"compared"`
	// Different is the number of findings that follow from the comparison.
	Different int `json:"different"`
}

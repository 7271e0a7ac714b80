package report

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Diagnosis is a list of findings over a whole snapshot.
type Diagnosis struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Source     Source         `json:"source"`
	Summary    FindingSummary `json:"summary"`
	Findings   []Finding      `json:"findings"`
	Complete   bool           `json:"complete"`
	Gaps       []Gap          `json:"gaps"`
}

// FindingSummary counts what was looked at and found.
type FindingSummary struct {
	Objects    int `json:"objects"`
	References int `json:"references"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Infos      int `json:"infos"`
}

// Finding is one thing that is wrong, or may be.
type Finding struct {
	// Code is a stable CamelCase code of docs/reasons.md.
	Code      string          `json:"code"`
	Severity  reason.Severity `json:"severity"`
	Object    Ref             `json:"object"`
	Reference *Ref            `json:"reference,omitempty"`
	Message   string          `json:"message"`
	Evidence  string          `json:"evidence,omitempty"`
	Remedy    string          `json:"remedy,omitempty"`

	// What stuck says beside. Since is when the deletion began, in RFC 3339, and
	// ForSeconds how long that was before the world was looked at; absent where the time
	// of that is not known.
	Since      string `json:"since,omitempty"`
	ForSeconds *int   `json:"forSeconds,omitempty"`
	// Chain is a sequence: from the object over what it waits for to what has to move.
	Chain []WaitLink `json:"chain,omitempty"`
	// More counts further ends of the same kind that the object waits for.
	More int `json:"more,omitempty"`
	// Finalizer is the one at the end of the chain, Verdict whether anybody removes it.
	Finalizer string            `json:"finalizer,omitempty"`
	Verdict   ControllerVerdict `json:"verdict,omitempty"`
	// Proof is what was seen, and what was not, in the order of its weight.
	Proof []Proof `json:"proof,omitempty"`
	// Remedies are commands that would end the waiting, the mildest first.
	Remedies []Remedy `json:"remedies,omitempty"`
}

// ControllerVerdict says whether those who remove a finalizer are at work.
type ControllerVerdict string

// The verdicts on controllers.
const (
	// FinalizerControllerAlive: one who removes it runs, and could do so now.
	FinalizerControllerAlive ControllerVerdict = "Alive"
	// FinalizerControllerSlow: one who removes it is there, and does not get it done.
	FinalizerControllerSlow ControllerVerdict = "Slow"
	// FinalizerControllerGone: all who could remove it were looked for in what was completely
	// read, and none runs.
	FinalizerControllerGone ControllerVerdict = "Gone"
	// FinalizerControllerUnknown: not enough was seen to say.
	FinalizerControllerUnknown ControllerVerdict = "Unknown"
)

// WaitLink is one step on the way to what has to move.
type WaitLink struct {
	Ref
	// Waits is why the object waits for the next one: a CamelCase reason of
	// docs/reasons.md. The last link has the code of the finding.
	Waits string `json:"waits"`
}

// Proof is one thing that was seen, or could not be.
type Proof struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Object  *Ref   `json:"object,omitempty"`
	Message string `json:"message"`
}

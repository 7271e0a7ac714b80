package report

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
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Source     Source           `json:"source"`
	Verdict    CollectorVerdict `json:"verdict"`
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

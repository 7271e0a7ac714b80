package report

// CollectorVerdict is the answer to whether the collector of a cluster works.
type CollectorVerdict string

// The verdicts of a Checkup.
const (
	// CollectorWorking: its own graph follows the cluster, and nothing is left undone.
	CollectorWorking CollectorVerdict = "Working"
	// CollectorNotWorking: something proves that it does not do its work, or not all of it.
	CollectorNotWorking CollectorVerdict = "NotWorking"
	// CollectorNoProblemFound: everything was looked at, and nothing says that it does not work.
	CollectorNoProblemFound CollectorVerdict = "NoProblemFound"
	// CollectorUnknown: what was seen does not tell.
	CollectorUnknown CollectorVerdict = "Unknown"
)

// Checkup is the answer to whether the collector of a cluster works, and why.
type Checkup struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Source     Source           `json:"source"`
	Verdict    CollectorVerdict `json:"verdict"`
	// Reasons are what the verdict rests on, the gravest first.
	Reasons []CheckupReason `json:"reasons"`
	// PatienceSeconds is how long the collector may leave work undone.
	PatienceSeconds int64 `json:"patienceSeconds"`
	// EarlierTakenAt is the time of the earlier dump that this one was compared with.
	EarlierTakenAt string           `json:"earlierTakenAt,omitempty"`
	Graph          *GraphComparison `json:"graph,omitempty"`
	Summary        FindingSummary   `json:"summary"`
	Findings       []Finding        `json:"findings"`
	Complete       bool             `json:"complete"`
	Gaps           []Gap            `json:"gaps"`
}

// CheckupReason is one thing that a verdict rests on.
type CheckupReason struct {
	// Code is that of findings, or of docs/reasons.md.
	Code string `json:"code"`
	// Count is the number of findings; 0 for a reason that is none.
	Count   int    `json:"count,omitempty"`
	Message string `json:"message"`
}

// GraphComparison says how far the graph of the collector and the snapshot agree.
type GraphComparison struct {
	// From is the file or URL that the graph was read from.
	From  string `json:"from"`
	Nodes int    `json:"nodes"`
	Edges int    `json:"edges"`
	// Compared objects are in the snapshot and known to the collector.
	Compared int `json:"compared"`
	// Different findings follow from it.
	Different int `json:"different"`
}

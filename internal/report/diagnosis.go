package report

// Severity grades a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

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
	Code      string   `json:"code"`
	Severity  Severity `json:"severity"`
	Object    Ref      `json:"object"`
	Reference *Ref     `json:"reference,omitempty"`
	Message   string   `json:"message"`
	Evidence  string   `json:"evidence,omitempty"`
	Remedy    string   `json:"remedy,omitempty"`
}

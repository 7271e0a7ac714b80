package render

import "github.com/kubectl-gc/kubectl-gc/internal/report"

var stepWords = map[report.StepState]string{
	report.StepMade:       "made",
	report.StepRestored:   "restored",
	report.StepTaken:      "another one has been created meanwhile; it stays as it is",
	report.StepDiffers:    "differs",
	report.StepRefused:    "refused",
	report.StepContended:  "has changed since the plan was made; left alone",
	report.StepUnknown:    "unknown",
	report.StepSuperseded: "left",
	report.StepNotDone:    "not done",
}

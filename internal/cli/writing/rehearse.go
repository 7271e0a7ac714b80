package writing

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Rehearsed prints the answers to dry-run requests. A refusal is an error, as for kubectl
// --dry-run=server.
func Rehearsed(errOut io.Writer, answers []report.Answer) error {
	fmt.Fprintln(errOut, render.EscapeLines(render.AnswersText(answers)))
	if Refuses(answers) {
		return &exit.Error{Code: exit.Failed}
	}
	return nil
}

// Refuses reports whether the API server would refuse one of the requests.
func Refuses(answers []report.Answer) bool {
	return slices.ContainsFunc(answers, func(a report.Answer) bool { return a.Refused != "" })
}

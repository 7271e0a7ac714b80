package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// summary prints what became of a run, and returns the error that carries its exit
// code.
func summary(c *cobra.Command, o *output, streams genericiooptions.IOStreams, run *report.Run, err error) error {
	if run == nil {
		if refused, ok := errors.AsType[*apply.RefusedError](err); ok {
			return &exit{code: exitRefused, message: refused.Error()}
		}
		return err
	}
	if failed := errors.Join(err, o.show(c, streams.Out, run, as(render.RunText, run))); failed != nil {
		return &exit{code: exitPartial, message: failed.Error()}
	}
	verdict := verdictOf(run)
	if own, ok := errors.AsType[*exit](verdict); ok && o.asText() {
		own.message = "" // it stands in what was printed
	}
	return verdict
}

// verdictOf is the exit code of a run.
func verdictOf(run *report.Run) error {
	switch run.State {
	case report.Complete, report.NotAwaited:
		if len(run.Drift) > 0 {
			return &exit{code: exitFindings, message: "not everything is as predicted"}
		}
		return nil
	case report.NothingWritten:
		if run.Summary.Refused > 0 {
			return &exit{code: exitError, message: "nothing was written: " + run.Message}
		}
		return &exit{code: exitRefused, message: "nothing was written: " + cmp.Or(run.Message, string(run.State))}
	case report.Interrupted:
		return &exit{code: exitInterrupted, message: run.Message}
	default:
		return &exit{code: exitPartial, message: run.Message}
	}
}

// tellRun shows how far a run is: one changing line on a terminal, else a line for
// each change of what is waited for.
func tellRun(c *cobra.Command, errOut io.Writer) (tell func(apply.Progress), wipe func()) {
	style := render.Style{ASCII: !utf8Locale()}
	following := begin(c, errOut, "carrying out the plan")
	if following.manner != animated {
		quiet := c.Flag("progress").Value.String() == "none"
		return func(p apply.Progress) {
			if p.Stage == apply.Following && !quiet {
				fmt.Fprintln(errOut, render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
			}
		}, following.end
	}
	style.Width = max(0, following.width-1)
	return func(p apply.Progress) {
		following.tell(render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
	}, following.end
}

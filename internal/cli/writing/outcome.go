package writing

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// summary prints the report of a run, and returns the error with its exit code.
func (w *Writing) summary(c *cobra.Command, o *output.Output, streams genericiooptions.IOStreams, run *report.Run, err error) error {
	if run == nil {
		if refused, ok := errors.AsType[*apply.RefusedError](err); ok {
			return &exit.Error{Code: exit.Refused, Message: refused.Error()}
		}
		return err
	}
	if failed := errors.Join(err, o.Show(c, streams.Out, run, output.As(render.RunText, run))); failed != nil {
		return &exit.Error{Code: exit.Partial, Message: failed.Error()}
	}
	if o.AsText() && (run.Summary.Gone > 0 || run.State == report.NotAwaited) && w.undoes != "" {
		fmt.Fprintln(streams.ErrOut, w.undoes+"kubectl gc undo "+report.ShellWord(w.backup.NameOf(run.Bundle)))
	}
	verdict := verdictOf(run)
	if own, ok := errors.AsType[*exit.Error](verdict); ok && o.AsText() {
		own.Message = "" // the printed text contains it
	}
	return verdict
}

// verdictOf returns the error with the exit code of a run.
func verdictOf(run *report.Run) error {
	switch run.State {
	case report.Complete, report.NotAwaited:
		if len(run.Differences) > 0 {
			return &exit.Error{Code: exit.Findings, Message: "not everything is as predicted"}
		}
		return nil
	case report.NothingWritten:
		if run.Summary.Refused > 0 {
			return &exit.Error{Code: exit.Failed, Message: "nothing was written: " + run.Message}
		}
		return &exit.Error{Code: exit.Refused, Message: "nothing was written: " + cmp.Or(run.Message, string(run.State))}
	case report.Interrupted:
		return &exit.Error{Code: exit.Interrupted, Message: run.Message}
	default:
		return &exit.Error{Code: exit.Partial, Message: run.Message}
	}
}

// tellRun shows the progress of a run: one updated line on a terminal, else a line for each change.
func tellRun(c *cobra.Command, errOut io.Writer) (tell func(apply.Progress), wipe func()) {
	style := render.Style{ASCII: !output.UTF8Locale()}
	following := progress.Begin(c, errOut, "carrying out the plan")
	width, changes := following.Line()
	if !changes {
		quiet := c.Flag("progress").Value.String() == "none"
		return func(p apply.Progress) {
			if p.Stage == apply.Following && !quiet {
				fmt.Fprintln(errOut, render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
			}
		}, following.End
	}
	style.Width = width
	return func(p apply.Progress) {
		following.Tell(render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
	}, following.End
}

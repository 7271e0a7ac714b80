package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// The exit codes (docs/output.md).
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitFindings    = 3
	exitIncomplete  = 4
	exitRefused     = 5
	exitPartial     = 6
	exitInterrupted = 130
)

// usageError is a command line that cannot be meant.
type usageError struct {
	err     error
	command string
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v\nSee '%s -h' for help and examples", e.err, e.command)
}

func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(c *cobra.Command, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), command: c.CommandPath()}
}

// exit ends a command that has answered with a code of its own. The message goes
// to stderr.
type exit struct {
	code    int
	message string
}

func (e *exit) Error() string { return e.message }

// refusedf is the error of a command that has refused to write.
func refusedf(format string, args ...any) error {
	return &exit{code: exitRefused, message: "refused, nothing was written: " + fmt.Sprintf(format, args...)}
}

// incomplete is the error of an answer that rests on gaps, if that matters.
func incomplete(required, complete bool) error {
	if required && !complete {
		return &exit{code: exitIncomplete, message: "--require-complete: the answer rests on something that was not seen"}
	}
	return nil
}

func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var own *exit
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	default:
		return exitError
	}
}

// escapeLines makes foreign characters of a message visible and keeps its line
// breaks.
func escapeLines(message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = render.Escape(line)
	}
	return strings.Join(lines, "\n")
}

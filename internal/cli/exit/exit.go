// Package exit is how a command ends: the exit codes, and the errors that carry them.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
)

// The exit codes (docs/output.md).
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Findings    = 3
	Incomplete  = 4
	Refused     = 5
	Partial     = 6
	Interrupted = 130
)

// Error ends a command that has answered with a code of its own. The message goes
// to stderr.
type Error struct {
	Code    int
	Message string
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Refusedf is the error of a command that has refused to write.
func Refusedf(format string, args ...any) error {
	return &Error{Code: Refused, Message: "refused, nothing was written: " + fmt.Sprintf(format, args...)}
}

// Verdict is the exit code of an answer: whether there are findings, then whether it rests
// on gaps.
func Verdict(findings, required, complete bool) error {
	if findings {
		return &Error{Code: Findings}
	}
	return UnlessComplete(required, complete)
}

// UnlessComplete is the error of an answer that rests on gaps, if that matters.
func UnlessComplete(required, complete bool) error {
	if required && !complete {
		return &Error{Code: Incomplete, Message: "--require-complete: the answer depends on something that could not be read"}
	}
	return nil
}

// CodeOf is the exit code of a command that ends with an error.
func CodeOf(ctx context.Context, err error) int {
	var line *usage.Error
	var own *Error
	switch {
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &line):
		return Usage
	case ctx.Err() != nil:
		return Interrupted
	default:
		return Failed
	}
}

// Package exit defines the exit codes and the errors that carry them.
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

// Error ends a command with an exit code. The message is printed to stderr; it may be empty.
type Error struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Refusedf returns the error of a command that refused to write.
func Refusedf(format string, args ...any) error {
	return &Error{Code: Refused, Message: "refused, nothing was written: " + fmt.Sprintf(format, args...)}
}

// CodeOf returns the exit code for the error of a command.
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

package cli

import (
	"context"
	"errors"
	"fmt"
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

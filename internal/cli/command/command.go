// Package command has what all commands share: exit codes, usage errors, flag values that are
// checked, suggestions for mistyped words, the version of this program, the formats and pictures of
// an answer, and on stderr the progress of a slow command, which is also recorded for the message
// after an interrupt.
package command

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The exit codes (docs/output.md).
const (
	OK          = 0
	Failed      = 1
	WrongUsage  = 2
	Findings    = 3
	Incomplete  = 4
	Refused     = 5
	Partial     = 6
	Interrupted = 130
)

// Exit is an error that ends a command with an exit code. The message is printed to stderr; it may
// be empty.
type Exit struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *Exit) Error() string { return e.Message }

// Refusedf returns the error of a command that refused to write.
func Refusedf(format string, args ...any) error {
	return &Exit{Code: Refused, Message: "refused, nothing was written: " + fmt.Sprintf(format, args...)}
}

// ExitCode returns the exit code for the error of a command.
func ExitCode(ctx context.Context, err error) int {
	var line *Error
	var own *Exit
	switch {
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &line):
		return WrongUsage
	case ctx.Err() != nil:
		return Interrupted
	default:
		return Failed
	}
}

// Error is a usage error.
type Error struct {
	err     error
	command string
}

// Error returns the message with a hint to the help.
func (e *Error) Error() string {
	return fmt.Sprintf("%v\nSee '%s -h' for help and examples", e.err, e.command)
}

// Unwrap returns the error without the hint.
func (e *Error) Unwrap() error { return e.err }

// Errorf returns a usage error of a command.
func Errorf(c *cobra.Command, format string, args ...any) error {
	return &Error{err: fmt.Errorf(format, args...), command: c.CommandPath()}
}

// NoArguments refuses arguments.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Errorf(c, "unexpected argument %q", args[0])
	}
	return nil
}

// version is set by the release build.
var version = ""

// Version returns the version of this program.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

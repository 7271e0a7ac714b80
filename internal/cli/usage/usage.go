// Package usage contains usage errors, flag values that are checked, and suggestions for mistyped
// words.
package usage

import (
	"fmt"

	"github.com/spf13/cobra"
)

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

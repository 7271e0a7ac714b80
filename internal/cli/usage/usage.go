// Package usage is what is wrong with a command line: the error that says so, values of
// flags that refuse what they do not know, and what else could be meant.
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

// Error says what is wrong, and where to find help.
func (e *Error) Error() string {
	return fmt.Sprintf("%v\nSee '%s -h' for help and examples", e.err, e.command)
}

// Unwrap is what is wrong alone.
func (e *Error) Unwrap() error { return e.err }

// Errorf is the error of a command line, with the command whose help helps.
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

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
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

// noArguments refuses arguments.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf(c, "unexpected argument %q", args[0])
	}
	return nil
}

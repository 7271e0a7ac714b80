package writing

import (
	"os/signal"
	"syscall"
)

// Outlive keeps the process alive when the reader of its output exits. On Unix, writing to a closed
// pipe would otherwise end it in the middle of a run. Read-only commands should end like that.
func Outlive() { signal.Ignore(syscall.SIGPIPE) }

package writing

import (
	"os/signal"
	"syscall"
)

// Outlive has the process outlive whoever reads what it prints: on Unix, to write to a
// pipe that nobody reads any more would end it in the middle of a run. A command that
// only shows something ends like that, and should.
func Outlive() { signal.Ignore(syscall.SIGPIPE) }

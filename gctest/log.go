package gctest

import (
	"fmt"
	"sync"
)

// maxLogged is how many deletes are logged. A suite that shares one collector can have thousands.
const maxLogged = 200

// log writes lines for people until it is closed: the log of a test must not be used after its end.
type log struct {
	mu sync.Mutex
	// write is nil for no log, and after close.
	write func(line string)
	lines int
}

// deleted logs a delete.
func (l *log) deleted(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.lines++; {
	case l.write == nil || l.lines > maxLogged:
	case l.lines == maxLogged:
		l.write(fmt.Sprintf("%s (deletes after the %dth are not logged)", line, maxLogged))
	default:
		l.write(line)
	}
}

// remark logs a line, however many there are.
func (l *log) remark(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.write != nil {
		l.write(line)
	}
}

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write = nil
}

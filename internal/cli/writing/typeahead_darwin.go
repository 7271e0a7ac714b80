package writing

import "golang.org/x/sys/unix"

// flush drops what was typed at a terminal and not read yet.
func flush(terminal uintptr) error {
	const input = 1 // FREAD
	return unix.IoctlSetPointerInt(int(terminal), unix.TIOCFLUSH, input)
}

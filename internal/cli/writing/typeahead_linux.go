package writing

import "golang.org/x/sys/unix"

// flush drops what was typed at a terminal and not read yet.
func flush(terminal uintptr) error {
	return unix.IoctlSetInt(int(terminal), unix.TCFLSH, unix.TCIFLUSH)
}

package cli

import "golang.org/x/sys/unix"

// flush discards terminal input that was typed and not read yet.
func flush(terminal uintptr) error {
	const input = 1 // FREAD
	return unix.IoctlSetPointerInt(int(terminal), unix.TIOCFLUSH, input)
}

package cli

import "golang.org/x/sys/unix"

// flush discards terminal input that was typed and not read yet.
func flush(terminal uintptr) error {
	return unix.IoctlSetInt(int(terminal), unix.TCFLSH, unix.TCIFLUSH)
}

package cli

import "golang.org/x/sys/windows"

// flush discards console input that was typed and not read yet.
func flush(console uintptr) error {
	return windows.FlushConsoleInputBuffer(windows.Handle(console))
}

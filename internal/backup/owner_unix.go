//go:build unix

package backup

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow opens no symbolic link, and does not wait for the writer of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isOwn reports whether the file belongs to the user of this process.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// isWritableByOthers reports whether others may write to the file.
func isWritableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

func syncDirectory(f *os.File) error { return f.Sync() }

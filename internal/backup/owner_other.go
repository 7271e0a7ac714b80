//go:build !unix

package backup

import (
	"io/fs"
	"os"
)

const noFollow = 0

// isOwn returns true: access control lists protect files here, and files in a home directory
// inherit its list.
func isOwn(fs.FileInfo) bool { return true }

func isWritableByOthers(fs.FileInfo) bool { return false }

// syncDirectory does nothing: the file system writes names in order.
func syncDirectory(*os.File) error { return nil }

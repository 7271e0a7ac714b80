// Package version is the version of this program, and of the rules that it follows.
package version

import "runtime/debug"

// Version is set by the release build.
var Version = ""

// String is that of this program.
func String() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

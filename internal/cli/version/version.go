// Package version contains the version of this program.
package version

import "runtime/debug"

// Version is set by the release build.
var Version = ""

// String returns the version of this program.
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

// Package version is the version of this program, and of the rules that it follows.
package version

import "runtime/debug"

// Version is set by the release build.
var Version = ""

// Rules is the Kubernetes version whose behaviour is reproduced.
const Rules = "v1.36.3"

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

package cli

import "runtime/debug"

// Version is set by the release build.
var Version = ""

// semanticsVersion is the Kubernetes version whose behaviour is reproduced.
const semanticsVersion = "v1.36.3"

// version is that of this program.
func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

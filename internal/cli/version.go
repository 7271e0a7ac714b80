package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Version is set by the release build.
var Version = ""

// semanticsVersion is the Kubernetes version whose behaviour is reproduced.
const semanticsVersion = "v1.36.3"

func newVersion(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and that of the Kubernetes rules",
		Example: `  kubectl gc version`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(streams.Out, "kubectl-gc %s\nrules of Kubernetes %s\n%s %s/%s\n",
				version(), semanticsVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

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

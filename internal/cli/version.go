package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func newVersion(streams genericiooptions.IOStreams) *cobra.Command {
	var out command.Output
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, those of Kubernetes that are supported, and which file runs",
		Long: text(`
			Print the version, those of Kubernetes that are supported, with when and on how many
			states answers were compared with a real control plane, and which file runs. Files of PATH
			that kubectl would run instead of this one are listed, too: for kubectl gc explain
			it takes a kubectl-gc-explain first.`),
		Example: templates.Examples(`
			kubectl gc version

			kubectl gc version -o json`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			v := thisVersion()
			if done, err := out.Print(c, streams.Out, v); done || err != nil {
				return err
			}
			fmt.Fprintf(streams.Out, "kubectl-gc %s\nrules of Kubernetes %s to %s, by the version of the cluster\n", v.Version, release.Oldest, release.Newest)
			for _, m := range v.Measured {
				fmt.Fprintf(streams.Out, "  %-8s compared on %s: %d states, %d wrong\n", m.Version, m.Day, m.States, m.Wrong)
			}
			fmt.Fprintf(streams.Out, "%s %s\n%s\n", v.Go, v.Platform, render.Escape(v.Path))
			for _, path := range v.Shadows {
				fmt.Fprintf(streams.ErrOut, "warning: kubectl may run %s instead\n", render.Escape(path))
			}
			return nil
		},
	}
	out.AddFlags(c.Flags())
	return c
}

func thisVersion() *report.Version {
	v := &report.Version{
		Header: report.HeaderOf("Version"), Version: command.Version(), Rules: report.RulesVersion,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Measured: []report.MeasuredVersion{}, Shadows: []string{},
	}
	for _, m := range release.Measurements() {
		v.Measured = append(v.Measured, report.MeasuredVersion{Version: m.Version, Day: m.Day, States: m.States, Wrong: m.Wrong})
	}
	self, err := os.Executable()
	if err != nil {
		return v
	}
	v.Path = self
	running, _ := os.Stat(self) // without it, no file is the same
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) { // it depends on the working directory
			continue
		}
		found, _ := filepath.Glob(filepath.Join(dir, "kubectl-gc*")) // none if dir has a malformed pattern
		for _, path := range found {
			name := strings.TrimSuffix(filepath.Base(path), ".exe")
			file, err := os.Stat(path)
			same := err == nil && running != nil && os.SameFile(file, running)
			if (name == "kubectl-gc" || strings.HasPrefix(name, "kubectl-gc-")) && !same && !slices.Contains(v.Shadows, path) {
				v.Shadows = append(v.Shadows, path)
			}
		}
	}
	return v
}

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
)

// TestOptionsListsWhatHelpLeavesOut: every flag of every command is in its help or listed by
// `options`.
func TestOptionsListsWhatHelpLeavesOut(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	root := NewCommand("kubectl gc", streams)
	root.SetArgs([]string{"options"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	listed := out.String()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		help := c.UsageString()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			in := help
			if f.Hidden {
				in = listed
			}
			if !strings.Contains(in, "--"+f.Name+" ") && command.IsUnlisted(f) == f.Hidden {
				t.Errorf("%s --%s is listed nowhere", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	for _, c := range root.Commands() {
		visit(c)
	}
}

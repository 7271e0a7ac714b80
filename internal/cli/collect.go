package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func newCollect(streams genericiooptions.IOStreams) *cobra.Command {
	var (
		from            source
		out             output
		fail            failOn
		rules, to       string
		steps, reads    bool
		requireComplete bool
	)
	c := &cobra.Command{
		Use:   "collect --from DUMP",
		Short: "Show what is garbage and what waits; write the world afterwards",
		Long: text(`
			Show what is garbage and what waits, and write the world as it would be
			afterwards (--to).

			Strict rules, the default, are those under which kubectl gc itself would delete:
			an owner is absent only if that is proven. Upstream rules show what the collector
			of Kubernetes does with the same world.`),
		Example: templates.Examples(`
			# What is garbage?
			kubectl gc collect --from examples/garbage.yaml

			# The world afterwards, for further questions
			kubectl gc collect --from examples/garbage.yaml --to /tmp/after.gz`),
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			options := plan.Options{Reads: reads, NoSteps: out.forPeople() && !steps}
			switch rules {
			case "strict":
				options.Rules = engine.Strict
			case "upstream":
			default:
				return usageErrorf(c, "--rules=%s: must be strict or upstream", rules)
			}
			if err := fail.parse(); err != nil {
				return usageErrorf(c, "%w", err)
			}
			snap, err := from.read(c, streams.In, streams.ErrOut)
			if err != nil {
				return err
			}
			result, err := plan.Simulate(c.Context(), snap, plan.CollectSeed(), options)
			if err != nil {
				return err
			}
			if to != "" {
				if err := writeSnapshot(snap.With(result.After()), to, snapshot.Gzip); err != nil {
					return err
				}
			}
			if err := showPlan(c, &out, streams, result.Plan, steps); err != nil {
				return err
			}
			if met := fail.match(result.Plan); len(met) > 0 {
				return &exit{code: exitFindings, message: "--fail-on: " + strings.Join(met, ", ")}
			}
			return incomplete(requireComplete, result.Plan.Complete)
		},
	}
	f := c.Flags()
	from.addFlags(f)
	out.addFlags(f)
	f.StringVar(&rules, "rules", "strict", "The rules of absence: strict or upstream.")
	f.StringVar(&to, "to", "", "Write the world as it would be afterwards to this file.")
	f.BoolVar(&steps, "steps", false, "Show the requests in their order.")
	f.BoolVar(&reads, "reads", false, "Count reads among the steps.")
	f.StringSliceVar(&fail.conditions, "fail-on", nil, failOnUsage)
	f.BoolVar(&requireComplete, "require-complete", false, "Exit with 4 when the answer rests on something that the dump does not contain.")
	return c
}

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf(c, "unexpected argument %q", args[0])
	}
	return nil
}

// writeSnapshot writes a snapshot so that the file is whole or not there at all.
func writeSnapshot(snap *snapshot.Snapshot, name string, compression snapshot.Compression) (err error) {
	partial := name + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	if err := snap.Write(f, compression); err != nil {
		_ = f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(partial, name)
}

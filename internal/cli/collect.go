package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// collection is the command collect. From a dump it only shows the plan.
type collection struct {
	streams    genericiooptions.IOStreams
	from       command.Source
	output     command.Output
	fail       failOn
	writing    writing
	namespaces command.Namespaces
	// only are the namespaces to collect in; empty for all.
	only         []string
	rules, to    string
	steps, reads bool
	patience     time.Duration
}

func newCollect(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	l := &collection{streams: streams, from: command.NewSource(config), output: command.Output{Own: command.PlanFormats}}
	c := &cobra.Command{
		Use:   "collect (-n NAMESPACE | -A | --from DUMP)",
		Short: "Delete what is garbage; of a dump, show what would go",
		Long: text(`
			Delete what is garbage in a cluster, as its collector would, and more carefully. Of
			a dump, show what would go, and write the cluster's state as it would be afterwards (--to).

			The plan comes first. You confirm it, and a copy of everything that is deleted or changed is
			kept. Then every owner is proven absent again, and every request names the uid and
			the version that was judged. It begins with one; then come five, then twenty-five,
			as long as nothing is other than planned. What the plan does not have is not done.
			It may be interrupted, or killed, and run again at any point.

			Protected objects stay, with all that they own, and the plan says so: kinds such as
			PVCs and Namespaces, what is annotated kubectl-gc.io/protect or
			helm.sh/resource-policy: keep, and the namespaces of the system; --unlock lifts some
			of that. With -n nothing outside of the namespace is touched, nor are cluster-scoped
			objects.

			Strict rules, the default, and the only ones under which anything is deleted: an
			owner is absent only if that is proven. Upstream rules show what the garbage collector of
			Kubernetes would do with the same state.

			Exit codes: 0 done; 3 done, and something is not as predicted; 5 refused, nothing
			was written; 6 partly done.`),
		Example: templates.Examples(`
			# What is garbage?
			kubectl gc collect --from examples/garbage.yaml

			# The state afterwards, for further questions
			kubectl gc collect --from examples/garbage.yaml --to /tmp/after.gz

			# The garbage of a namespace: the plan, and the command that executes it
			kubectl gc collect -n shop --dry-run

			# Of a whole cluster
			kubectl gc collect -A`),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Errorf(c, "all garbage of a namespace (-n) or of the cluster (-A) is collected: %q cannot be named", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return l.run(c, args) },
	}
	f := c.Flags()
	l.from.AddFlags(f)
	l.output.AddFlags(f)
	l.output.AddSortFlag(f)
	l.writing.AddFlags(f)
	l.namespaces.AddFlags(f, "Of a cluster: collect in this namespace.", "Of a cluster: collect everywhere, objects without a namespace included.")
	addRulesFlag(f, &l.rules)
	f.StringVar(&l.to, "to", "", "Write the cluster's state as it would be afterwards to this file; nothing is deleted.")
	f.BoolVar(&l.steps, "steps", false, "Show the requests in their order; -o json and its like have them as well then.")
	f.BoolVar(&l.reads, "reads", false, "Count reads among the steps.")
	f.StringSliceVar(&l.fail.conditions, "fail-on", nil, failOnUsage+" Nothing is collected then.")
	f.DurationVar(&l.patience, "patience", 15*time.Second, "Give up what has not come when nothing has happened for so long.")
	command.Unlist(f, "reads", "steps", "patience")
	l.output.AddCompleteFlag(f, "Exit with 4 when the answer depends on something that could not be read; nothing is deleted.")
	return c
}

func (l *collection) run(c *cobra.Command, args []string) error {
	options := plan.Options{Explore: plan.Usual, Seed: usualSeed, Record: plan.RecordOf(l.steps || l.output.PlaysSteps(), l.reads)}
	if err := l.check(c, &options); err != nil {
		return err
	}
	l.from.Evidence, l.from.Written = true, l.to != ""
	w, err := l.from.Read(c, l.streams, nil)
	if err != nil {
		return err
	}
	if w.Client != nil && options.Rules == engine.Strict {
		options.Keep = l.keeper()
	}
	for _, name := range l.only {
		noteNamespace(l.streams.ErrOut, w.Snapshot, name)
	}
	options.Guards = l.writing.Guards()
	simulating := command.BeginStage(c, l.streams.ErrOut, "simulating the garbage collector")
	result, err := w.Plan(c.Context(), plan.CollectSeed(), options, nil)
	simulating.End()
	if err != nil {
		return err
	}
	if l.to != "" {
		if err := writeSnapshot(w.WithSnapshot(w.With(result.After())), l.to, snapshot.Gzip); err != nil {
			return err
		}
	}
	met := l.fail.verdict(result.Plan)
	writes := w.Client != nil && l.to == "" && met == nil && options.Rules == engine.Strict
	if writes && len(result.Writes()) > 0 {
		return l.collect(c, args, w, result)
	}
	if err := l.output.ShowPlan(c, l.streams.Out, w.Snapshot, result.Plan, l.steps); err != nil {
		return err
	}
	if met != nil {
		return met
	}
	if err := l.output.UnlessComplete(result.Plan.Complete); err != nil {
		return err
	}
	if writes {
		fmt.Fprintln(l.streams.ErrOut, "There is nothing to collect.")
	}
	return nil
}

// check validates the flags.
func (l *collection) check(c *cobra.Command, options *plan.Options) error {
	live := l.from.Live()
	switch l.rules {
	case "strict":
		options.Rules = engine.Strict
	case "upstream":
		if live && !l.writing.IsDryRun() && l.to == "" {
			return command.Errorf(c, "--rules=upstream only shows what the cluster's own garbage collector does: give --dry-run")
		}
	}
	if err := l.fail.parse(); err != nil {
		return command.Errorf(c, "%w", err)
	}
	if err := l.writing.Check(c); err != nil {
		return err
	}
	scope := &l.from.Cluster.Scope
	scope.Namespaces = append(scope.Namespaces, l.namespaces.List()...)
	switch {
	case !live && (l.namespaces.One != "" || l.namespaces.All || l.writing.Digest != ""):
		return command.Errorf(c, "-n, -A and --confirm are about a cluster: a dump is shown as a whole")
	case live && l.namespaces.All && len(scope.Namespaces) > 0:
		return command.Errorf(c, "-A and -n exclude each other")
	case live && !l.namespaces.All && len(scope.Namespaces) == 0:
		return command.Errorf(c, "where? Give -n NAMESPACE, or -A for all of the cluster")
	}
	if err := l.output.CheckWrites(c, live && !l.writing.IsDryRun() && l.to == ""); err != nil {
		return err
	}
	if err := scope.Check(); err != nil {
		return command.Errorf(c, "%w", err)
	}
	l.only, l.from.About = scope.Namespaces, scope.Namespaces
	if options.Rules == engine.Strict {
		// An owner in another namespace keeps its dependent, so all namespaces are read.
		scope.Namespaces = nil
	}
	return nil
}

// keeper returns the reason to keep an object: it is protected, or outside of the namespaces.
func (l *collection) keeper() plan.Keeper {
	policy, namespaces := l.writing.Policy, l.only
	return func(o *object.Object, removes bool) reason.Code {
		if len(namespaces) > 0 && !slices.Contains(namespaces, o.Namespace) {
			return reason.NotAskedFor
		}
		if _, protected := policy.Check(o); protected && removes {
			return reason.Protected
		}
		return ""
	}
}

// collect asks for confirmation and executes the plan.
func (l *collection) collect(c *cobra.Command, args []string, w command.World, result *plan.Result) error {
	err := l.writing.Approve(c, args, l.streams, proposal{
		Verb: "collect garbage", DryRun: func() ([]report.Answer, error) { return apply.TryCollect(c.Context(), w.Client, w.Snapshot, result) }, World: w, Result: result, Output: &l.output, Steps: l.steps,
	})
	if err != nil {
		return err
	}
	return l.writing.Execute(c, &l.output, l.streams, func(o apply.Options) (*report.Run, error) {
		o.StallTimeout = l.patience
		return apply.Collect(c.Context(), w.Client, w.Snapshot, result, o)
	})
}

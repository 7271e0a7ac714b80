package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/stuck"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// stuckCommand is `stuck`.
type stuckCommand struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	targets         targets.Targets
	output          output.Output
	waiting         waiting
	requireComplete bool
}

func newStuck(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &stuckCommand{streams: streams, source: source.New(config), output: output.Output{Own: output.MarkdownFormat}}
	c := &cobra.Command{
		Use:   "stuck [TYPE/NAME…] [-n NAMESPACE | -A] [--from DUMP]",
		Short: "Say what holds up everything that is being deleted, and what would free it",
		Long: text(`
			Say of everything that is being deleted how long that lasts, and what is at the end
			of each chain of waiting: a finalizer and who removes it, a blocking dependent, what
			uses a PVC or volume, a node, a condition of a namespace, an API service or a
			webhook that does not answer, a deadlock, or the garbage collector itself.

			For a finalizer it checks the evidence about its controller: Alive, Slow, Gone or
			Unknown. Nobody is called gone before everything that could show somebody was read
			whole, and never for age alone. Rights are those that RBAC gives.

			Each finding ends with the command that would free the object, and what that costs.
			Nothing is written. Without objects or a namespace, everything is looked at. Exits
			with 3 when something will not end without you.`),
		Example: templates.Examples(`
			# What is stuck, and why?
			kubectl gc stuck --from examples/payments-stuck.yaml --at 2026-11-22T12:00:00Z

			# Why does this namespace not go away?
			kubectl gc stuck namespace/payments --from examples/payments-stuck.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.source.AddFlags(f)
	k.output.AddFlags(f)
	k.output.AddSortFlag(f)
	k.targets.Namespaces.AddFlags(f, "Look at this namespace and its content only; of named objects, the namespace that they are in.",
		"Look at all namespaces, which is what happens without -n too.")
	k.waiting.addFlags(f)
	f.BoolVar(&k.requireComplete, "require-complete", false, "Exit with 4 when something rests on what was not seen.")
	return c
}

func (k *stuckCommand) run(c *cobra.Command, args []string) error {
	if err := k.waiting.from(c, &k.source); err != nil {
		return err
	}
	k.source.Single = len(args) > 0
	if !k.source.Single {
		if err := k.targets.Namespaces.Check(c); err != nil {
			return err
		}
		k.source.About = k.targets.Namespaces.List()
	}
	w, err := k.source.Read(c, k.streams, &k.targets.Namespaces)
	if err != nil {
		return err
	}
	q, err := k.question(c, w, args)
	if err != nil {
		return err
	}
	judging := progress.Begin(c, k.streams.ErrOut, "following what everything waits for")
	d, err := judgeWaiting(c.Context(), w, q)
	judging.End()
	if err != nil {
		return err
	}
	return k.print(c, d)
}

// judgeWaiting has the evidence read and the question answered.
func judgeWaiting(ctx context.Context, w source.World, q stuck.Question) (*report.Diagnosis, error) {
	seen, err := w.Evidence(ctx, q.Objects)
	if err != nil {
		return nil, err
	}
	return stuck.Objects(ctx, w.Snapshot, seen, q)
}

func (k *stuckCommand) question(c *cobra.Command, w source.World, args []string) (stuck.Question, error) {
	now, err := k.waiting.moment(c, w)
	q := stuck.Question{Now: now, Namespace: k.targets.Namespaces.One}
	if err != nil {
		return q, err
	}
	if len(args) == 0 {
		targets.NoteNamespace(k.streams.ErrOut, w.Snapshot, q.Namespace)
		return q, nil
	}
	refs, err := k.targets.Find(c, w, args)
	if err != nil {
		return q, err
	}
	q.Objects = refs
	notBeingDeleted(k.streams.ErrOut, w, refs)
	return q, nil
}

// notBeingDeleted tells of the objects that were named for nothing.
func notBeingDeleted(errOut io.Writer, w source.World, refs []object.Ref) {
	for _, ref := range refs {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !o.BeingDeleted() {
			fmt.Fprintln(errOut, "note: "+render.Escape(report.RefOf(ref).ShortName())+" is not being deleted")
		}
	}
}

func (k *stuckCommand) print(c *cobra.Command, d *report.Diagnosis) error {
	if err := k.output.Show(c, k.streams.Out, d, output.As(render.StuckText, d), output.Markdown(render.StuckMarkdown, d)); err != nil {
		return err
	}
	return exit.Verdict(d.Summary.Errors > 0, k.requireComplete, d.Complete)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explanation is the command explain.
type explanation struct {
	streams genericiooptions.IOStreams
	source  command.Source
	targets targets
	output  command.Output
	options diagnose.ExplanationOptions
}

func newExplain(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &explanation{streams: streams, source: command.NewSource(config), output: command.Output{Own: command.PlanFormats}}
	c := &cobra.Command{
		Use:     "explain (TYPE NAME | TYPE/NAME) [--from DUMP]",
		Aliases: []string{"why"},
		Short:   "Explain why an object stays, why it is deleted, or what it waits for",
		Long: text(`
			Explain why an object stays, why it is deleted, or what it waits for: the rule that decides,
			what each owner reference counts as and on what evidence, the dependents and
			finalizers, the chain to the owner that keeps it or to what is absent, which
			single deletes would take it, and what would change the verdict. Those deletes are
			of its owners and their owners, of its namespace, of its CRD, and of what it
			waits for.

			Of an object that is being deleted it says what stuck says: what it waits for in the
			end, what removes its finalizers and on what evidence, and what would release it at what
			cost. One that never goes by itself has its deadlock named, and what a second delete
			would cost. Of a cluster it shows the last events about the object.

			Of an object that a cluster does not have any more it says what lost says: when it
			went, with what and by whose delete, if that was in the last minutes. With --from
			so does an etcd snapshot, and the file of snapshot --history.`),
		Example: templates.Examples(`
			# Why is this pod here?
			kubectl gc explain pod/web-5d47c484f4-kdxq8 -n shop --from examples/shop.yaml

			# Why does this database not go away?
			kubectl gc explain database/orders -n payments --from examples/payments-stuck.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.source.AddFlags(f)
	k.targets.AddFlags(f)
	k.output.AddFlags(f)
	k.source.AddAtFlag(f)
	f.BoolVar(&k.options.AllPolicies, "all-policies", false,
		"Of the deletes that would take it, list those under every policy, not only under the mildest that takes it.")
	k.output.AddCompleteFlag(f, "Exit with 4 when the answer depends on something that could not be read.")
	command.Unlist(f, "all", "require-complete")
	return c
}

func (k *explanation) run(c *cobra.Command, args []string) error {
	if err := k.source.CheckAt(c); err != nil {
		return err
	}
	if done, err := k.explainGone(c, args); done || err != nil {
		return err
	}
	k.source.Evidence, k.targets.AcceptsUnreadNamespace = true, true
	var e *report.Explanation
	var of command.World
	k.source.Cluster.Scope.Deployers = true // one of another namespace may take the object along
	err := k.targets.Answer(c, k.streams, &k.source, args, !k.options.AllPolicies, func(w command.World, refs []object.Ref, part *reach.OneNamespace) (rest string, err error) {
		if r := k.targets.Release; r != nil {
			refs = []object.Ref{r.Newest().Ref}
		}
		if len(refs) > 1 {
			return "", command.Errorf(c, "explain is about one object, %d were named", len(refs))
		}
		of = w
		e, rest, err = k.explain(c, w, refs[0], part)
		return rest, err
	})
	if err != nil {
		if done, gone := k.explainGoneFrom(c, args); done {
			return gone
		}
		return err
	}
	if of.Client != nil {
		addEvents(c.Context(), of.Client, e)
	}
	err = k.output.Show(c, k.streams.Out, e, command.As(render.ExplanationText, e), command.Drawn(command.ExplanationDrawing(c.Context(), of.Snapshot, e)), command.Markdown(render.ExplanationMarkdown, e))
	if err != nil {
		return err
	}
	return k.output.UnlessComplete(e.Complete)
}

// explain explains one object, also with evidence about other controllers. For an object that is
// being deleted it adds what it waits for, as stuck does. rest is why a part of the cluster was
// insufficient.
func (k *explanation) explain(c *cobra.Command, w command.World, ref object.Ref, part *reach.OneNamespace) (e *report.Explanation, rest string, err error) {
	now := w.TakenAt()
	defer command.BeginStage(c, k.streams.ErrOut, "explaining "+ref.ShortName()).End()
	if part != nil {
		if e, err = diagnose.Explain(c.Context(), w.Snapshot, ref, k.options); err != nil {
			return nil, "", err
		}
		if rest = part.WhyExplanationDiffers(e); rest != "" {
			return e, rest, nil
		}
	}
	o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil, "", fmt.Errorf("%s is not in %s", ref, w.What())
	}
	seen, err := k.seen(c.Context(), w, o)
	if err != nil {
		return nil, "", err
	}
	options := k.options
	options.Health, options.Unread = health.New(w.Snapshot, seen, now), k.targets.NamespaceUnread
	if e, err = diagnose.Explain(c.Context(), w.Snapshot, ref, options); err != nil || !o.BeingDeleted() {
		return e, "", err
	}
	d, err := diagnose.Stuck(c.Context(), w.Snapshot, seen, diagnose.StuckQuestion{Now: now, Objects: []object.Ref{ref}})
	if err != nil {
		return nil, "", err
	}
	diagnose.CompleteExplanation(e, d)
	if part != nil {
		rest = part.WhyWaitsDiffer(e)
	}
	return e, rest, nil
}

// seen returns the evidence about one object: what stuck reads if it is being deleted, otherwise
// what a delete would depend on.
func (k *explanation) seen(ctx context.Context, w command.World, o *object.Object) (*health.Evidence, error) {
	if w.Client == nil || o.BeingDeleted() {
		return w.Evidence(ctx, []object.Ref{o.Ref}, false)
	}
	return w.Client.Neighbours(ctx, command.ReachOf(w.Snapshot, o))
}

// manyEvents is the number of events that an explanation shows.
const manyEvents = 10

// addEvents adds the events of the object in a cluster. A read error is reported in the document
// only.
func addEvents(ctx context.Context, client *kube.Client, e *report.Explanation) {
	events, err := client.Events(ctx, e.Object, manyEvents)
	if err != nil {
		e.EventsUnknown = err.Error()
		return
	}
	for _, x := range events {
		e.Events = append(e.Events, report.EventFinding(x))
	}
}

// explainGone answers about a deleted object of a cluster, as lost does, and reports whether it
// did. If the history has no deletion of that name, it prints a note with the time when the history
// begins. The caller reports that the object does not exist.
func (k *explanation) explainGone(c *cobra.Command, args []string) (done bool, err error) {
	if !k.source.Live() || k.targets.Check(c, args) != nil || len(args) == 0 || namesRelease(args) {
		return false, nil
	}
	named, err := namedObjects(c, args)
	if err != nil || len(named.list) != 1 {
		return false, nil // the lookup of the object reports the error
	}
	client, err := k.source.Open(c, &k.targets.Namespaces)
	if err != nil {
		return false, err
	}
	defer client.Close()
	if !k.targets.Missing(c.Context(), client, args) {
		return false, nil
	}
	record, err := command.RecordOf(c.Context(), client)
	if err != nil {
		return false, err
	}
	return k.gone(c, record, named)
}

// explainGoneFrom is explainGone for a file with history, if the object is not in the file.
func (k *explanation) explainGoneFrom(c *cobra.Command, args []string) (done bool, err error) {
	if k.source.Live() || !k.source.HasPast() || k.targets.Check(c, args) != nil || len(args) == 0 {
		return false, nil
	}
	named, err := namedObjects(c, args)
	if err != nil || len(named.list) != 1 {
		return false, nil
	}
	record, err := k.source.OpenRecord(c, k.streams, &k.targets.Namespaces)
	if err != nil {
		return false, nil // the caller reports the error of the lookup
	}
	defer record.Close()
	return k.gone(c, record, named)
}

func (k *explanation) gone(c *cobra.Command, record *command.Record, named lostNames) (done bool, err error) {
	b := pastQuestion{streams: k.streams, namespaces: k.targets.Namespaces}
	a, q, err := b.trace(c, record, named)
	_, unknown := errors.AsType[*unknownTypeError](err)
	switch {
	case c.Context().Err() != nil:
		return false, c.Context().Err()
	case unknown:
		return false, nil
	case err != nil:
		fmt.Fprintf(k.streams.ErrOut, "note: what was there before is not known: %s\n", render.Escape(err.Error()))
		return false, nil
	}
	d := past.LostDocument(a, q)
	if len(d.Losses) == 0 {
		fmt.Fprintf(k.streams.ErrOut, "note: %s\n", render.NotDeletedText(d))
		return false, nil
	}
	if slices.Contains(k.output.Own, k.output.Format) {
		return true, fmt.Errorf("%s is gone, and -o %s shows what is there: leave it out, or give -o json", render.Escape(d.Targets[0].ShortName()), k.output.Format)
	}
	if err := k.output.Show(c, k.streams.Out, d, command.As(render.LostText, d)); err != nil {
		return true, err
	}
	return true, k.output.UnlessComplete(d.Complete)
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/stuck"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explanation is `explain`.
type explanation struct {
	streams         genericiooptions.IOStreams
	source          source
	targets         targets
	output          output
	options         explain.Options
	waiting         waiting
	requireComplete bool
}

func newExplain(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &explanation{streams: streams, source: newSource(config), output: output{own: planFormats}}
	c := &cobra.Command{
		Use:   "explain (TYPE NAME | TYPE/NAME) [--from DUMP]",
		Short: "Say why an object stays, why it goes, or on whom it waits",
		Long: text(`
			Say why an object stays, why it goes, or on whom it waits: the rule that decides,
			what each owner reference counts as and on what evidence, the dependents and
			finalizers, the chain to the owner that keeps it or to what is absent, which
			single deletes would take it, and what would change the verdict. Those deletes are
			of its owners and their owners, of its namespace, of its definition, and of what it
			waits for.

			Of an object that is being deleted it says what stuck says: what it waits for in the
			end, who removes its finalizers and on what evidence, and what would free it at what
			cost. One that never goes by itself has its deadlock named, and what a second delete
			would cost. Of a cluster it shows the last events about the object.`),
		Example: templates.Examples(`
			# Why is this pod here?
			kubectl gc explain pod/web-66db7fc774-bt7b5 -n shop --from examples/shop.yaml

			# Why does this database not go away?
			kubectl gc explain database/orders -n payments --from examples/payments-stuck.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.source.addFlags(f)
	k.targets.addFlags(f)
	k.output.addFlags(f)
	k.waiting.addFlags(f)
	f.BoolVar(&k.options.AllPolicies, "all-policies", false,
		"Of the deletes that would take it, list those under every policy, not only under the mildest that takes it.")
	f.BoolVar(&k.requireComplete, "require-complete", false, "Exit with 4 when the answer rests on something that was not seen.")
	return c
}

func (k *explanation) run(c *cobra.Command, args []string) error {
	if err := k.waiting.from(c, &k.source); err != nil {
		return err
	}
	var e *report.Explanation
	var of world
	err := k.targets.answer(c, k.streams, &k.source, args, !k.options.AllPolicies, func(w world, refs []object.Ref, part *impact.OneNamespace) (rest string, err error) {
		if len(refs) > 1 {
			return "", usageErrorf(c, "explain is about one object, %d were named", len(refs))
		}
		of = w
		e, rest, err = k.explain(c, w, refs[0], part)
		return rest, err
	})
	if err != nil {
		return err
	}
	if of.client != nil {
		addEvents(c.Context(), of.client, e)
	}
	return k.print(c, of, e)
}

// explain explains one object, with what is known of those who act beside the collector.
// Of one that is being deleted it says what it waits for in the end, as stuck does. The
// rest is why a part of a cluster is not enough for that.
func (k *explanation) explain(c *cobra.Command, w world, ref object.Ref, part *impact.OneNamespace) (e *report.Explanation, rest string, err error) {
	now, err := k.waiting.moment(c, w)
	if err != nil {
		return nil, "", err
	}
	defer begin(c, k.streams.ErrOut, "explaining "+report.RefOf(ref).KubectlName()).end()
	if part != nil {
		if e, err = explain.Object(c.Context(), w.Snapshot, ref, k.options); err != nil {
			return nil, "", err
		}
		if rest = part.Explanation(e); rest != "" {
			return e, rest, nil
		}
	}
	o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil, "", fmt.Errorf("%s is not in the snapshot", ref)
	}
	seen, err := k.seen(c.Context(), w, o)
	if err != nil {
		return nil, "", err
	}
	options := k.options
	options.Surroundings = evidence.New(w.Snapshot, seen, now)
	if e, err = explain.Object(c.Context(), w.Snapshot, ref, options); err != nil || !o.BeingDeleted() {
		return e, "", err
	}
	d, err := stuck.Objects(c.Context(), w.Snapshot, seen, stuck.Question{Now: now, Objects: []object.Ref{ref}})
	if err != nil {
		return nil, "", err
	}
	stuck.Complete(e, d)
	if part != nil {
		rest = part.Waits(e)
	}
	return e, rest, nil
}

// seen is the evidence about one object: for one that is being deleted what stuck reads,
// for another one what matters when it is.
func (k *explanation) seen(ctx context.Context, w world, o *object.Object) (*evidence.World, error) {
	if w.client == nil || o.BeingDeleted() {
		return w.evidence(ctx, []object.Ref{o.Ref})
	}
	return w.client.Neighbours(ctx, reachOfObject(o))
}

func (k *explanation) print(c *cobra.Command, w world, e *report.Explanation) error {
	err := k.output.show(c, k.streams.Out, e, as(render.ExplanationText, e), drawn(explanationDrawing(c.Context(), w.Snapshot, e)), markdown(render.ExplanationMarkdown, e))
	if err != nil {
		return err
	}
	return incomplete(k.requireComplete, e.Complete)
}

// manyEvents is the number of events that an explanation shows.
const manyEvents = 10

// addEvents adds what was noted about the object in a cluster. That it cannot be read is
// said, and changes nothing about the answer.
func addEvents(ctx context.Context, client *kube.Client, e *report.Explanation) {
	events, err := client.Events(ctx, object.Ref(e.Object), manyEvents)
	if err != nil {
		e.EventsUnknown = err.Error()
		return
	}
	for _, x := range events {
		e.Events = append(e.Events, report.EventFinding(x))
	}
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// stuckCommand is the command stuck.
type stuckCommand struct {
	streams genericiooptions.IOStreams
	source  command.Source
	targets targets
	output  command.Output
	watch   bool
}

func newStuck(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &stuckCommand{streams: streams, source: command.NewSource(config), output: command.Output{Own: command.MarkdownFormat}}
	c := &cobra.Command{
		Use:   "stuck [TYPE [NAME] | TYPE/NAME…] [-l SELECTOR] [-n NAMESPACE | -A] [--from DUMP]",
		Short: "Say what holds up everything that is being deleted, and what would release it",
		Long: text(`
			Say of everything that is being deleted how long that lasts, and what is at the end
			of each chain of waiting: a finalizer and its controller, a blocking dependent, what
			uses a PVC or volume, a node, a condition of a namespace, an API service or a
			webhook that does not answer, a deadlock, or the garbage collector itself. Cordoned
			nodes are listed if budgets protect the last pods that a drain would evict.

			Without arguments it looks at all namespaces. A TYPE alone, as in kubectl get, means
			the namespace of your context; -A means all.

			For a finalizer it checks the evidence about its controller: Alive, Slow, Gone or
			Unknown. No controller is called gone before everything that could show one was read
			whole, and never for age alone. Permissions are those that RBAC gives.

			Each finding ends with the command that would free the object, and what that costs.
			Nothing is written. Exits with 3 when something will not end without you.`),
		Example: templates.Examples(`
			# What is stuck, and why?
			kubectl gc stuck --from examples/payments-stuck.yaml --at 2026-11-22T12:00:00Z

			# Why does this namespace not go away?
			kubectl gc stuck namespace/payments --from examples/payments-stuck.yaml

			# Which PVCs are stuck, anywhere?
			kubectl gc stuck pvc -A --from examples/payments-stuck.yaml

			# What is stuck of one release, anywhere?
			kubectl gc stuck -l app.kubernetes.io/instance=orders

			# Tell me when something changes
			kubectl gc stuck --watch`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.source.AddFlags(f)
	k.output.AddFlags(f)
	k.output.AddSortFlag(f)
	k.targets.Namespaces.AddFlags(f, "Look at this namespace and its content only; of named objects, the namespace that they are in.", "Look at all namespaces.")
	k.targets.AddSelectorFlag(f, "Look at objects with these labels only, as app=web,tier!=db.")
	k.source.AddAtFlag(f)
	f.BoolVarP(&k.watch, "watch", "w", false, "Look again every few seconds, and tell when something has changed, until you interrupt it.")
	k.output.AddCompleteFlag(f, "Exit with 4 when something rests on what was not seen.")
	command.Unlist(f, "require-complete")
	return c
}

func (k *stuckCommand) run(c *cobra.Command, args []string) error {
	if err := k.check(c, args); err != nil {
		return err
	}
	k.source.Evidence = true
	switch {
	case len(args) == 0:
		k.source.About = k.targets.Namespaces.List()
	case isType(args):
		k.source.Single = true
	default:
		k.targets.Confine(&k.source, args)
	}
	if k.watch {
		return k.watchOn(c, args)
	}
	w, err := k.source.Read(c, k.streams, &k.targets.Namespaces)
	if err != nil {
		return err
	}
	d, err := k.diagnose(c, w, args)
	if err != nil {
		return err
	}
	if err := k.show(c, d); err != nil {
		return err
	}
	return k.verdict(d)
}

func (k *stuckCommand) check(c *cobra.Command, args []string) error {
	if k.watch && !k.source.Live() {
		return command.Errorf(c, "--watch is about a cluster: a dump does not change")
	}
	if err := k.source.CheckAt(c); err != nil {
		return err
	}
	if len(args) == 0 || isType(args) {
		if _, err := k.targets.LabelSelector(c); err != nil {
			return err
		}
		return k.targets.Namespaces.Check(c)
	}
	return k.targets.Check(c, args)
}

// isType reports whether the arguments are one or more types without names.
func isType(args []string) bool { return len(args) == 1 && !strings.Contains(args[0], "/") }

// diagnose diagnoses the selected objects.
func (k *stuckCommand) diagnose(c *cobra.Command, w command.World, args []string) (*report.Diagnosis, error) {
	q, err := k.question(c, w, args)
	if err != nil {
		return nil, err
	}
	defer command.BeginStage(c, k.streams.ErrOut, "following what everything waits for").End()
	seen, err := w.Evidence(c.Context(), q.Objects, q.AsksDrains())
	if err != nil {
		return nil, err
	}
	d, err := diagnose.Stuck(c.Context(), w.Snapshot, seen, q)
	if err == nil && k.targets.Unseen(w, args) != "" { // it is unknown whether it is being deleted
		d.Complete = false
		for i, g := range d.Gaps {
			d.Gaps[i].Matters = g.Matters || g.APIVersion == "v1" && g.Resource == "namespaces"
		}
	}
	return d, err
}

func (k *stuckCommand) question(c *cobra.Command, w command.World, args []string) (diagnose.StuckQuestion, error) {
	q := diagnose.StuckQuestion{Now: w.TakenAt(), Namespace: k.targets.Namespaces.One}
	var err error
	if q.Labels, err = k.targets.LabelSelector(c); err != nil {
		return q, err
	}
	switch {
	case len(args) == 0:
		noteNamespace(k.streams.ErrOut, w.Snapshot, q.Namespace)
		k.noteUnlabelled(w, q)
		return q, nil
	case isType(args):
		err := k.kinds(w, args[0], &q)
		k.noteUnlabelled(w, q)
		return q, err
	}
	if unseen := k.targets.Unseen(w, args); unseen != "" {
		noteUnseen(k.streams.ErrOut, w, unseen)
		q.Namespace = unseen
		return q, nil
	}
	refs, err := k.targets.Find(c, w, args)
	if err != nil {
		return q, err
	}
	q.Objects = refs
	for _, ref := range refs {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !o.BeingDeleted() {
			fmt.Fprintln(k.streams.ErrOut, "note: "+render.Escape(ref.ShortName())+" is not being deleted"+deletedInside(c, w, ref))
		}
	}
	return q, nil
}

// deletedInside names the command that shows what is being deleted in a namespace; empty if nothing is.
func deletedInside(c *cobra.Command, w command.World, ref object.Ref) string {
	if inside := (diagnose.StuckQuestion{Namespace: ref.Name}); !ref.Is(object.Namespace) || inside.Count(w.Snapshot) == 0 {
		return ""
	}
	return "; what is being deleted in it: " + command.Connection(c).Command("kubectl gc stuck -n "+report.ShellWord(ref.Name))
}

// noteUnlabelled prints the number of objects that are being deleted, but have other labels.
func (k *stuckCommand) noteUnlabelled(w command.World, q diagnose.StuckQuestion) {
	all := q
	all.Labels = nil
	if n := all.Count(w.Snapshot) - q.Count(w.Snapshot); n > 0 {
		fmt.Fprintf(k.streams.ErrOut, "note: being deleted without these labels: %d\n", n)
	}
}

// kinds selects types in the namespace that kubectl get would list, and prints the number of
// deletions in other namespaces. `all` selects all types.
func (k *stuckCommand) kinds(w command.World, arg string, q *diagnose.StuckQuestion) error {
	q.Namespace = k.targets.Namespaces.Listed(w.Client != nil)
	noteNamespace(k.streams.ErrOut, w.Snapshot, q.Namespace)
	if arg != "all" {
		for name := range strings.SplitSeq(arg, ",") {
			r, err := findResource(w.Snapshot, name)
			if err != nil {
				return err
			}
			q.Kinds = append(q.Kinds, r)
		}
	}
	everywhere := *q
	everywhere.Namespace = ""
	if n := everywhere.Count(w.Snapshot) - q.Count(w.Snapshot); n > 0 {
		fmt.Fprintf(k.streams.ErrOut, "note: being deleted in other namespaces: %d %s; add -A\n", n, render.Escape(arg))
	}
	return nil
}

func (k *stuckCommand) show(c *cobra.Command, d *report.Diagnosis) error {
	return k.output.Show(c, k.streams.Out, d, command.As(render.StuckText, d), command.Markdown(render.StuckMarkdown, d))
}

func (k *stuckCommand) verdict(d *report.Diagnosis) error {
	return k.output.Verdict(d.Summary.Errors > 0, d.Complete)
}

// The pause between two reads of a cluster is at least pauseBetweenLooks, and pauseForEachLook
// times the duration of the read: watching must not burden a cluster in trouble.
const (
	pauseBetweenLooks = 2 * time.Second
	pauseForEachLook  = 5
)

// watchOn prints what is stuck, and again after each change, until it is interrupted. After a
// failed read it prints a warning and continues.
func (k *stuckCommand) watchOn(c *cobra.Command, args []string) error {
	client, err := k.source.Open(c, &k.targets.Namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	last, err := k.diagnoseAgain(c, client, args)
	if err != nil {
		return err
	}
	if err := k.show(c, last); err != nil {
		return err
	}
	errOut, failed := k.streams.ErrOut, ""
	k.streams.ErrOut = io.Discard // warnings about the cluster are printed once
	for pause := pauseBetweenLooks; ; {
		select {
		case <-c.Context().Done():
			return k.verdict(last)
		case <-time.After(pause):
		}
		began := time.Now()
		now, err := k.diagnoseAgain(c, client, args)
		pause = max(pauseBetweenLooks, pauseForEachLook*time.Since(began))
		switch {
		case c.Context().Err() != nil:
		case err != nil && err.Error() != failed:
			failed = err.Error()
			fmt.Fprintln(errOut, "warning: "+render.EscapeLines(failed)+"; trying again")
		case err == nil && situationOf(now) != situationOf(last):
			if k.output.Format == "" || k.output.Format == "wide" { // for people, with the time
				fmt.Fprintf(k.streams.Out, "\n%s\n", now.Source.TakenAt)
			}
			if err := k.show(c, now); err != nil {
				return err
			}
			fallthrough
		case err == nil:
			last, failed = now, ""
		}
	}
}

func (k *stuckCommand) diagnoseAgain(c *cobra.Command, client *kube.Client, args []string) (*report.Diagnosis, error) {
	w, err := k.source.ReadOpened(c, k.streams, client, &k.targets.Namespaces)
	if err != nil {
		return nil, err
	}
	return k.diagnose(c, w, args)
}

// situationOf returns a text that changes whenever the findings change, but not with their
// duration.
func situationOf(d *report.Diagnosis) string {
	var b strings.Builder
	for i := range d.Findings {
		f := &d.Findings[i]
		fmt.Fprintln(&b, f.Code, f.Severity, f.Object, f.Finalizer, f.Verdict, f.More)
		for _, link := range f.Chain {
			fmt.Fprintln(&b, " ", link.Ref)
		}
	}
	return b.String()
}

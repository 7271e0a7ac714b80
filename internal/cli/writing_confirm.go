package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// confirm is the confirmation between a plan and its first write. A user at a terminal reads the
// plan and confirms it; a script gives the digest of a plan that was shown before. A plan that was
// never shown can't be confirmed. (spec §16)
type confirm struct {
	Digest string
	dryRun string
}

// AddFlags adds --confirm and --dry-run.
func (k *confirm) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&k.Digest, "confirm", "",
		"Do not ask if this is the digest of the plan. --dry-run prints the digest.")
	command.AddChoice(f, &k.dryRun, "dry-run", "none",
		"client, which is what --dry-run alone means: show the plan and its digest, and write nothing. server: have the API server try each request, too.",
		"none", "client", "server").NoOptDefVal = "client"
}

// SetDryRun sets the dry run.
func (k *confirm) SetDryRun() { k.dryRun = "client" }

// IsDryRun reports whether nothing is to be written.
func (k *confirm) IsDryRun() bool { return k.dryRun == "client" || k.IsServerDryRun() }

// IsServerDryRun reports whether each request is sent as a dry run.
func (k *confirm) IsServerDryRun() bool { return k.dryRun == "server" }

// question returns the question for a plan: the cluster, the user and the consequences.
func question(verb string, id kube.Identity, p *report.Plan, kinds *object.Resources) report.Confirmation {
	// Events that are deleted as a consequence do not count.
	ignored := func(r object.Ref) bool { return r.IsEvent() && !slices.Contains(p.Seed.Targets, r) }
	deletes := slices.DeleteFunc(slices.Collect(apply.DeletedObjects(p)), ignored)
	q := report.Confirmation{
		Verb: verb, Context: id.Context, Server: id.Server, User: id.User, ClusterUID: id.ClusterUID,
		Deletes: len(deletes), Digest: p.Digest,
	}
	for e := range p.Account() {
		if ignored(e.Object) && e.IsDeleted() {
			continue
		}
		c := e.Consequence
		n := report.ConsequenceCount{
			APIVersion: e.Object.APIVersion, Kind: e.Object.Kind, Change: c.Change, When: c.When, Certainty: c.Certainty,
		}
		if n.When == report.ControllerActs {
			n.When = report.AtOnce // the deleting controller makes no difference here
		}
		q.Add(n)
		q.UpTo = q.UpTo || n.Change == report.ChangeDeleted && n.Certainty != report.Sure
	}
	if len(deletes) == 1 {
		q.Only = &deletes[0]
	}
	ranks := map[object.Ref]int{}
	outside := map[object.Ref]bool{}
	for i := range p.Outside {
		if p.Outside[i].LosesData() {
			outside[p.Outside[i].Object] = true
		}
	}
	for _, r := range deletes {
		kind, err := kinds.For(r.APIVersion, r.Kind)
		rank, data := apply.DataRank(r, err == nil && kind.Custom)
		if outside[r] {
			rank, data = apply.OutsideDataRank(), true
		}
		if data {
			ranks[r] = rank
			q.Data = append(q.Data, r)
		}
	}
	slices.SortStableFunc(q.Data, func(a, b object.Ref) int { return ranks[a] - ranks[b] })
	return q
}

// Ask returns nil if the plan may be executed. Any other outcome is a *command.Exit: code 5 if it
// was refused, 0 if it was only shown. Nothing is written before Ask returns. args are those of the
// command line.
func (k *confirm) Ask(c *cobra.Command, args []string, streams genericiooptions.IOStreams, q report.Confirmation) error {
	switch {
	case k.IsDryRun():
		return k.show(c, args, streams, q.Digest)
	case k.Digest == q.Digest:
		return nil
	case k.Digest != "":
		return command.Refusedf("--confirm is of another plan; that of the cluster as it is now has the digest %s", q.Digest)
	case !isTerminal(streams.In):
		return command.Refusedf("no terminal to ask on: read the plan, then run\n  %s", commandLine(c, args, "--confirm="+q.Digest))
	}
	return askPerson(c.Context(), streams, q)
}

// show prints the command that executes a plan.
func (k *confirm) show(c *cobra.Command, args []string, streams genericiooptions.IOStreams, digest string) error {
	fmt.Fprintf(streams.ErrOut, "Nothing was written. To execute exactly this plan:\n  %s\n", commandLine(c, args, "--confirm="+digest))
	return shown
}

// askPerson shows the question and waits for the answer. Input typed before the question is
// discarded.
func askPerson(ctx context.Context, streams genericiooptions.IOStreams, q report.Confirmation) error {
	style := render.Style{ASCII: !command.UTF8Locale(), Width: command.Columns(streams.ErrOut)}
	fmt.Fprintln(streams.ErrOut)
	if err := render.ConfirmationText(streams.ErrOut, style, &q); err != nil {
		return err
	}
	if terminal, ok := streams.In.(interface{ Fd() uintptr }); ok {
		if err := flush(terminal.Fd()); err != nil {
			return fmt.Errorf("what was typed before the question cannot be told from the answer: %w", err)
		}
	}
	fmt.Fprint(streams.ErrOut, "\n"+render.ConfirmationPrompt(style, &q)+" ")
	defer command.Asking(ctx)()
	answer, err := command.UnlessInterrupted(ctx, func() (string, error) {
		line, err := bufio.NewReader(streams.In).ReadString('\n')
		line = strings.TrimSpace(line)
		if line != "" && errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	})
	switch {
	case errors.Is(err, io.EOF):
		fmt.Fprintln(streams.ErrOut)
		return command.Refusedf("there was no answer")
	case err != nil:
		fmt.Fprintln(streams.ErrOut)
		return err
	case answer == q.Name():
		return nil
	}
	return command.Refusedf("the answer was not %s", render.Escape(q.Name()))
}

// isTerminal reports whether a user can be asked. A reader that is no file may implement
// AtTerminal.
func isTerminal(in io.Reader) bool {
	if person, ok := in.(interface{ AtTerminal() bool }); ok {
		return person.AtTerminal()
	}
	return term.TTY{In: in}.IsTerminalIn()
}

// commandLine returns the command that executes a plan: the given one, with the flags in instead
// replacing --dry-run, --confirm and their own values. For `dry-run delete` it is `delete`, without
// flags that only `dry-run delete` has.
func commandLine(c *cobra.Command, args []string, instead ...string) string {
	does := c
	if c.HasParent() && c.Parent().Name() == "dry-run" {
		if found, _, err := c.Root().Find([]string{c.Name()}); err == nil {
			does = found
		}
	}
	words := strings.Fields(does.CommandPath())
	named := object.Mapped(args, report.ShellWord)
	if likeFlag := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); likeFlag {
		instead = slices.Concat(instead, []string{"--"}, named)
	} else {
		words = append(words, named...)
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		_, notOfBackup := f.Annotations[questionFlag]
		replaced := slices.ContainsFunc(instead, func(flag string) bool { return strings.HasPrefix(flag, "--"+f.Name+"=") })
		if f.Name == "dry-run" || f.Name == "confirm" || replaced || notOfBackup || does != c && does.Flag(f.Name) == nil {
			return
		}
		words = append(words, command.FlagWords(f)...)
	})
	return strings.Join(append(words, instead...), " ")
}

// undoCommand returns the command that undoes a run, on the same cluster and as the same user. name is
// that of its backup.
func undoCommand(c *cobra.Command, name string) string {
	return command.Connection(c).Command("kubectl gc undo " + report.ShellWord(name))
}

// questionFlag marks flags that select what to put into a backup, and do not apply to the undo of
// that backup.
const questionFlag = "kubectl-gc.io/question"

// notOfBackup marks flags that select what an undo saves in a backup. The printed command names the
// backup and omits them. It panics if there is no such flag.
func notOfBackup(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, questionFlag, nil); err != nil {
			panic(err) // otherwise the printed command would be refused
		}
	}
}

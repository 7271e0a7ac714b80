package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explainGone answers about a deleted object of a cluster, as lost does, and reports whether it
// did. If the history has no deletion of that name, it prints a note with the time when the history
// begins. The caller reports that the object does not exist.
func (k *explanation) explainGone(c *cobra.Command, args []string) (done bool, err error) {
	if !k.source.Live() || k.targets.Check(c, args) != nil || len(args) == 0 {
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
	record, err := source.RecordOf(c.Context(), client)
	if err != nil {
		return false, err
	}
	return k.gone(c, record, named)
}

// explainGoneFrom is explainGone for a file with history, if the object is not in the file.
func (k *explanation) explainGoneFrom(c *cobra.Command, args []string) (done bool, err error) {
	if k.source.Live() || !k.source.Remembers() || k.targets.Check(c, args) != nil || len(args) == 0 {
		return false, nil
	}
	named, err := namedObjects(c, args)
	if err != nil || len(named.list) != 1 {
		return false, nil
	}
	record, err := k.source.OpenRecord(c, k.streams, &k.targets.Namespaces)
	if err != nil {
		return false, nil // as above
	}
	defer record.Close()
	return k.gone(c, record, named)
}

func (k *explanation) gone(c *cobra.Command, record *source.Record, named lostNames) (done bool, err error) {
	b := lookBack{streams: k.streams, namespaces: k.targets.Namespaces}
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
	d := lost.Document(a, q)
	if len(d.Losses) == 0 {
		fmt.Fprintf(k.streams.ErrOut, "note: %s\n", render.NeverSeen(d))
		return false, nil
	}
	return true, k.printGone(c, d)
}

func (k *explanation) printGone(c *cobra.Command, d *report.Lost) error {
	if slices.Contains(k.output.Own, k.output.Format) {
		return fmt.Errorf("%s is gone, and -o %s shows what is there: leave it out, or give -o json", render.Escape(d.Targets[0].ShortName()), k.output.Format)
	}
	if err := k.output.Show(c, k.streams.Out, d, output.As(render.LostText, d)); err != nil {
		return err
	}
	return exit.UnlessComplete(k.requireComplete, d.Complete)
}

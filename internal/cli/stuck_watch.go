package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Between two looks at a cluster is so much time at least, and so many times the time that
// the look took: who watches is no load on a cluster that has trouble already.
const (
	pauseBetweenLooks = 2 * time.Second
	pauseForEachLook  = 5
)

// watchOn prints what is stuck, and again whenever that has changed. Its end is that
// somebody interrupts it. A look that fails is told of, and the next one tried.
func (k *stuckCommand) watchOn(c *cobra.Command, args []string) error {
	client, err := k.source.Open(c, &k.targets.Namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	last, err := k.lookAgain(c, client, args)
	if err != nil {
		return err
	}
	if err := k.show(c, last); err != nil {
		return err
	}
	errOut, failed := k.streams.ErrOut, ""
	k.streams.ErrOut = io.Discard // what is remarkable about the cluster was said
	for pause := pauseBetweenLooks; ; {
		select {
		case <-c.Context().Done():
			return k.verdict(last)
		case <-time.After(pause):
		}
		began := time.Now()
		now, err := k.lookAgain(c, client, args)
		pause = max(pauseBetweenLooks, pauseForEachLook*time.Since(began))
		switch {
		case c.Context().Err() != nil:
		case err != nil && err.Error() != failed:
			failed = err.Error()
			fmt.Fprintln(errOut, "warning: "+render.EscapeLines(failed)+"; trying again")
		case err == nil && situationOf(now) != situationOf(last):
			if err := k.showChange(c, now); err != nil {
				return err
			}
			fallthrough
		case err == nil:
			last, failed = now, ""
		}
	}
}

func (k *stuckCommand) lookAgain(c *cobra.Command, client *kube.Client, args []string) (*report.Diagnosis, error) {
	w, err := k.source.ReadOpened(c, k.streams, client, &k.targets.Namespaces)
	if err != nil {
		return nil, err
	}
	return k.look(c, w, args)
}

// showChange shows what is stuck now, for people with the time at which that was so.
func (k *stuckCommand) showChange(c *cobra.Command, d *report.Diagnosis) error {
	if k.output.Format == "" || k.output.Format == "wide" {
		fmt.Fprintf(k.streams.Out, "\n%s\n", d.Source.TakenAt)
	}
	return k.show(c, d)
}

// situationOf is what a person wants to be told of when it changes: who waits for what, and
// not for how long.
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

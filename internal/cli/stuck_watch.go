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
	last, err := k.lookAgain(c, client, args)
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

// showChange prints what is stuck now. For people it adds the time.
func (k *stuckCommand) showChange(c *cobra.Command, d *report.Diagnosis) error {
	if k.output.Format == "" || k.output.Format == "wide" {
		fmt.Fprintf(k.streams.Out, "\n%s\n", d.Source.TakenAt)
	}
	return k.show(c, d)
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

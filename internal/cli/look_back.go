package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// lookBack is a question about the past: the time span and the namespaces.
type lookBack struct {
	streams       genericiooptions.IOStreams
	namespaces    source.Namespaces
	since         time.Duration
	sinceRevision uint64
	// audit are audit logs that name the senders of deletes.
	audit auditLogs
}

func (b *lookBack) addFlags(f *pflag.FlagSet) {
	b.namespaces.AddFlags(f, "Look at this namespace and its content only (default: that of the context).", "Look at all namespaces.")
	f.DurationVar(&b.since, "since", 0, "Look back so far, as 30s, 5m or 1h (default: as far as is remembered).")
	f.Uint64Var(&b.sinceRevision, "since-revision", 0, "Look at what is newer than this resourceVersion.")
	usage.Unlist(f, "since-revision")
}

func (b *lookBack) check(c *cobra.Command, args []string) error {
	switch {
	case b.since < 0 || c.Flags().Changed("since") && b.since < time.Second:
		return usage.Errorf(c, "--since=%s: must be a second or more", b.since)
	case b.since > 0 && b.sinceRevision > 0:
		return usage.Errorf(c, "--since and --since-revision exclude each other")
	case len(args) > 0 && b.namespaces.All:
		return usage.Errorf(c, "an object cannot be named across all namespaces: give -n")
	}
	return b.namespaces.Check(c)
}

// trace finds the losses in a record. The namespace of the context must be known before.
func (b *lookBack) trace(c *cobra.Command, record *source.Record, named lostNames) (*history.Account, lost.Question, error) {
	q, scope, err := b.question(record, &named)
	if err != nil {
		return nil, q, err
	}
	past, err := b.read(c, record, scope)
	if err != nil {
		return nil, q, b.wayOut(err)
	}
	if q.Objects, err = named.objects(past); err != nil {
		return nil, q, err
	}
	if past.Log, err = b.audit.read(past); err != nil {
		return nil, q, err
	}
	return history.Trace(past), q, nil
}

// wayOut adds to an error what helps a user with permissions in one namespace only.
func (b *lookBack) wayOut(err error) error {
	if _, ok := errors.AsType[*kube.ForbiddenPastError](err); ok && b.namespaces.All {
		return errors.New("to look at all namespaces you need the right to list leases in namespace kube-system; with rights in one namespace only: -n NAMESPACE")
	}
	return err
}

// question returns the question without its objects, which need the past to be resolved, and the
// namespaces to read.
func (b *lookBack) question(record *source.Record, named *lostNames) (q lost.Question, scope []string, err error) {
	q = lost.Question{Since: b.since, SinceRevision: b.sinceRevision, Source: record.Source, Undo: true, File: record.Flags}
	if len(named.list) > 0 {
		served, err := record.Served()
		if err != nil {
			return q, nil, err
		}
		named.namespace = b.namespaces.OneOrDefault()
		scope = named.spaces(served)
	} else if q.Namespace = b.namespaces.Listed(record.Live); q.Namespace != "" {
		scope = []string{q.Namespace}
	}
	if record.Live {
		q.Source.Namespaces = scope
	}
	return q, scope, nil
}

// read reads the past from a record.
func (b *lookBack) read(c *cobra.Command, record history.Record, namespaces []string) (*history.Past, error) {
	s := progress.Begin(c, b.streams.ErrOut, "reading the history of the cluster")
	defer s.End()
	return record.Past(c.Context(), b.window(s, namespaces))
}

// window returns the time span and the namespaces to read.
func (b *lookBack) window(s *progress.Stage, namespaces []string) history.Window {
	return history.Window{
		Since: int64(b.since / time.Second), SinceRevision: b.sinceRevision, Namespaces: namespaces,
		Progress: func(done, kinds int) {
			s.Tell(fmt.Sprintf("reading the history of the cluster: %d of %d kinds", done, kinds))
		},
	}
}

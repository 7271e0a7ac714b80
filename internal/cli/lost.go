package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// losing is `lost`.
type losing struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	namespaces      source.Namespaces
	output          output.Output
	since           time.Duration
	sinceRevision   uint64
	requireComplete bool
}

func newLost(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &losing{streams: streams, source: source.New(config)}
	c := &cobra.Command{
		Use:   "lost [TYPE NAME… | TYPE/NAME…] [-n NAMESPACE | -A] [--since DURATION]",
		Short: "Say what was deleted in the last minutes, and which delete took it",
		Long: text(`
			Say what was deleted in the last minutes, and which delete took it: of a namespace
			that somebody deleted, that delete, and what went with it. What no delete explains
			is said to be the garbage collector's, a controller's, or not known.

			The API server remembers the last minutes, usually 5 to 10, also of a namespace or
			CRD that is gone. The answer says where that begins: nothing is known of what was
			before. Who sent a delete is not in there; an audit log has it.

			Without arguments it looks at the namespace of your context; -A means all. An object
			that is named need not exist any more.

			Nothing is written. Only metadata is read.`),
		Example: templates.Examples(`
			# What was deleted in the last minutes, anywhere?
			kubectl gc lost -A

			# Who took this namespace, and what was in it?
			kubectl gc lost namespace/payments -o wide

			# What went in a namespace since a moment ago?
			kubectl gc lost -n shop --since=2m`),
		Annotations: map[string]string{Live: "yes"},
		RunE:        func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.output.AddFlags(f)
	k.output.AddSortFlag(f)
	k.namespaces.AddFlags(f, "Look at this namespace and its content only (default: that of the context).", "Look at all namespaces.")
	f.DurationVar(&k.since, "since", 0, "Look back so far, as 30s, 5m or 1h (default: as far as the API server remembers).")
	f.Uint64Var(&k.sinceRevision, "since-revision", 0, "Look at what is newer than this resourceVersion.")
	f.BoolVar(&k.requireComplete, "require-complete", false, "Exit with 4 when something could not be read, or the API server remembers less than was asked for.")
	k.source.Cluster.AddRateFlags(f)
	usage.Unlist(f, "since-revision", "require-complete")
	return c
}

func (k *losing) run(c *cobra.Command, args []string) error {
	named, err := namedObjects(c, args)
	if err != nil {
		return err
	}
	if err := k.check(c, args); err != nil {
		return err
	}
	client, err := k.source.Open(c, &k.namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	q, scope, err := k.question(c, client, &named)
	if err != nil {
		return err
	}
	past, err := k.read(c, client, scope)
	if err != nil {
		return err
	}
	if q.Objects, err = named.objects(past); err != nil {
		return err
	}
	d := lost.Document(history.Trace(past), q)
	if err := k.output.Show(c, k.streams.Out, d, output.As(render.LostText, d)); err != nil {
		return err
	}
	return exit.UnlessComplete(k.requireComplete, d.Complete)
}

func (k *losing) check(c *cobra.Command, args []string) error {
	switch {
	case k.since < 0 || c.Flags().Changed("since") && k.since < time.Second:
		return usage.Errorf(c, "--since=%s: must be a second or more", k.since)
	case k.since > 0 && k.sinceRevision > 0:
		return usage.Errorf(c, "--since and --since-revision exclude each other")
	case len(args) > 0 && k.namespaces.All:
		return usage.Errorf(c, "an object cannot be named across all namespaces: give -n")
	}
	return k.namespaces.Check(c)
}

// question is what is asked, and what has to be read for it.
func (k *losing) question(c *cobra.Command, client *kube.Client, named *lostNames) (lost.Question, kube.Scope, error) {
	q := lost.Question{Since: k.since, SinceRevision: k.sinceRevision}
	var scope kube.Scope
	id, err := client.Identity(c.Context())
	if err != nil {
		return q, scope, err
	}
	if len(named.list) > 0 {
		served, err := client.Discover(c.Context())
		if err != nil {
			return q, scope, err
		}
		named.namespace = k.namespaces.OneOrDefault()
		scope.Namespaces = named.spaces(served.Resources)
	} else if q.Namespace = k.namespaces.Listed(true); q.Namespace != "" {
		scope.Namespaces = []string{q.Namespace}
	}
	q.Source = report.Source{
		Type: "cluster", Context: id.Context, Server: id.Server, ClusterUID: id.ClusterUID, KubernetesVersion: id.Version, Namespaces: scope.Namespaces,
	}
	return q, scope, nil
}

// read reads what the server remembers.
func (k *losing) read(c *cobra.Command, client *kube.Client, scope kube.Scope) (*history.Past, error) {
	s := progress.Begin(c, k.streams.ErrOut, "reading the history of the cluster")
	defer s.End()
	return client.Past(c.Context(), kube.PastOptions{
		Since: k.since, SinceRevision: k.sinceRevision, Scope: scope,
		Progress: func(done, kinds int) {
			s.Tell(fmt.Sprintf("reading the history of the cluster: %d of %d kinds", done, kinds))
		},
	})
}

package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// losing is the command lost.
type losing struct {
	lookBack
	source          source.Source
	output          output.Output
	requireComplete bool
}

func newLost(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &losing{lookBack: lookBack{streams: streams}, source: source.New(config), output: output.Output{Own: []string{"html"}}}
	c := &cobra.Command{
		Use:   "lost [TYPE NAME… | TYPE/NAME…] [-n NAMESPACE | -A] [--since DURATION]",
		Short: "Say what was deleted in the last minutes, and which delete took it",
		Long: text(`
			Say what was deleted in the last minutes, and which delete took it: of a namespace
			that somebody deleted, that delete, and what went with it. What no delete explains
			is said to be the garbage collector's, a controller's, or not known.

			The API server remembers the last minutes, usually 5 to 10, also of a namespace or
			CRD that is gone. The answer says where that begins: nothing is known of what was
			before. Who sent a delete is not in there: with --audit-log each delete has its
			user, client and address, and what the log has decides what was not certain.

			With --from it reads a history, the file of snapshot --history, or an etcd snapshot
			(etcdctl snapshot save): everything since the last compaction before it was taken.
			Both have the instances of a CRD that is gone, too.

			Without arguments it looks at the namespace of your context, or at all of a
			file; -A means all. An object that is named need not exist any more.

			Nothing is written. Only metadata is read.`),
		Example: templates.Examples(`
			# What was deleted in the last minutes, anywhere?
			kubectl gc lost -A

			# Who took this namespace, and what was in it?
			kubectl gc lost namespace/payments -o wide

			# What went in a namespace since a moment ago?
			kubectl gc lost -n shop --since=2m

			# Who sent that delete?
			ssh control-plane cat /var/log/kubernetes/audit.log | kubectl gc lost -n shop --audit-log=-

			# A page of what went when, to look at or to send
			kubectl gc lost -A -o html > lost.html`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.output.AddFlags(f)
	k.output.AddSortFlag(f)
	k.lookBack.addFlags(f)
	k.audit.addFlag(f)
	f.BoolVar(&k.requireComplete, "require-complete", false, "Exit with 4 when something could not be read, or less is remembered than was asked for.")
	k.source.AddRecordFlags(f)
	usage.Unlist(f, "require-complete")
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
	if err := k.audit.open(c, k.streams.In); err != nil {
		return err
	}
	defer k.audit.close()
	record, err := k.source.OpenRecord(c, k.streams, &k.namespaces)
	if err != nil {
		return err
	}
	defer record.Close()
	a, q, err := k.trace(c, record, named)
	if err != nil {
		return err
	}
	d := lost.Document(a, q)
	if err := k.show(c, d); err != nil {
		return err
	}
	return exit.UnlessComplete(k.requireComplete, d.Complete)
}

func (k *losing) show(c *cobra.Command, d *report.Lost) error {
	return k.output.Show(c, k.streams.Out, d, output.As(render.LostText, d), output.Timeline(d))
}

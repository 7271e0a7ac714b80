package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func newCheck(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from    = command.NewSource(config)
		out     = command.Output{Own: command.MarkdownFormat}
		in      command.Namespaces
		without string
		fields  bool
	)
	c := &cobra.Command{
		Use:   "check [-n NAMESPACE | -A] [--from DUMP]",
		Short: "List references that are wrong or put their object at risk",
		Long: text(`
			List owner references that are wrong or put their object at risk: owners that do
			not exist, whose uid, kind, name, version or namespace does not match, that the
			API server will refuse, cycles, two controllers, and references exposed when a
			version stops being served.

			What has one cause is shown once; -o wide lists every reference. What was not
			seen is a warning, never an error. Exits with 3 when there is an error.

			--references also lists other fields that name an object that does not exist, and
			are not optional: Secrets, ConfigMaps, PVCs, ServiceAccounts, classes, backends.

			--without-version answers as if a version of a resource were not served any more:
			references through it are errors then. Migrate them before you switch it off.`),
		Example: templates.Examples(`
			kubectl gc check --from examples/cluster.yaml

			# Which Secrets, ConfigMaps and other objects are named and do not exist?
			kubectl gc check --references --from examples/cluster.yaml

			# What still names databases in v1beta1?
			kubectl gc check --without-version=databases.example.com/v1beta1 --from examples/versions.yaml`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := in.Check(c); err != nil {
				return err
			}
			from.About, from.Cluster.Scope.References, from.Evidence = in.List(), !fields, fields
			w, err := from.Read(c, streams, nil)
			if err != nil {
				return err
			}
			noteNamespace(streams.ErrOut, w.Snapshot, in.One)
			snap, err := withoutVersion(w.Snapshot, without)
			if err != nil {
				return err
			}
			var around *health.Assessment
			if fields {
				if around, err = w.Assess(c.Context(), kube.Reach{Referrers: plan.AllReferrerParts(snap, in.One)}); err != nil {
					return err
				}
			}
			judging := command.BeginStage(c, streams.ErrOut, "judging references")
			d, err := diagnose.Check(c.Context(), snap, in.One, around)
			judging.End()
			if err != nil {
				return err
			}
			if err := out.Show(c, streams.Out, d, command.As(render.DiagnosisTable, d), command.Markdown(render.DiagnosisMarkdown, d)); err != nil {
				return err
			}
			return out.Verdict(d.Summary.Errors > 0, d.Complete)
		},
	}
	from.AddFlags(c.Flags())
	out.AddFlags(c.Flags())
	out.AddSortFlag(c.Flags())
	f := c.Flags()
	in.AddFlags(f, "Check only the references of the objects of this namespace.", "Check all references, which is the default.")
	f.BoolVar(&fields, "references", false, "Also list Secrets, ConfigMaps, PVCs and other objects that a field names and that do not exist.")
	f.StringVar(&without, "without-version", "", "Check as if a version of a resource were not served, as in databases.example.com/v1beta1.")
	out.AddCompleteFlag(f, "Exit with 4 when a reference could not be judged, or not everything could be read.")
	command.Unlist(f, "require-complete")
	return c
}

// withoutVersion returns the snapshot as if a version of a resource, such as
// databases.example.com/v1beta1, were not served. An empty resource returns the snapshot itself.
func withoutVersion(snap *snapshot.Snapshot, resource string) (*snapshot.Snapshot, error) {
	if resource == "" {
		return snap, nil
	}
	name, _, _ := strings.Cut(resource, "/")
	var served []string
	for _, r := range snap.Resources.All() {
		known := r.GroupResource().String() + "/" + r.Version
		switch {
		case known == resource:
			return snap.WithoutVersion(r)
		case r.GroupResource().String() == name:
			served = append(served, known)
		}
	}
	if len(served) > 0 {
		return nil, fmt.Errorf("%s is not served; these are: %s", resource, strings.Join(served, ", "))
	}
	all := object.Mapped(snap.Resources.All(), func(r object.Resource) string { return r.GroupResource().String() })
	return nil, fmt.Errorf("%q is not a resource with a version, as in databases.example.com/v1beta1%s", resource, command.DidYouMean(command.Nearest(name, all)))
}

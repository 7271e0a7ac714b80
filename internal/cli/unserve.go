package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/unserve"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// dryRunUnserve is `dry-run unserve`.
type dryRunUnserve struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	output          output.Output
	fix             bool
	requireComplete bool
}

func newDryRunUnserve(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := &dryRunUnserve{streams: streams, source: source.New(config), output: output.Output{Own: output.PlanFormats}}
	c := &cobra.Command{
		Use:   "unserve DEFINITION [VERSION] [--fix] [--from DUMP]",
		Short: "Show which dependents are lost when a version of a custom resource is no longer served",
		Long: text(`
			Show which dependents are lost when a version of a custom resource is no longer served.

			For up to 30 seconds the garbage collector of the cluster does not know that, and
			takes every owner that is named through the version for absent: dependents that it
			looks at meanwhile are deleted, or lose the reference, although the owner is alive.
			The answer lists them, what makes the garbage collector look at each, what goes with them,
			and who is safe. Without a VERSION the CRD itself is deleted.

			With --fix the patches are printed that have the references name another version.
			Each tests the uid and the reference, and changes nothing but its apiVersion.
			Nothing is sent. Exits with 3 when somebody is exposed.`),
		Example: templates.Examples(`
			# Who is lost when databases are not served in v1beta1 any more?
			kubectl gc dry-run unserve databases.example.com v1beta1 --from examples/versions.yaml

			# The commands that migrate the references first
			kubectl gc dry-run unserve databases.example.com v1beta1 --fix --from examples/versions.yaml

			# Who is lost when the CRD goes?
			kubectl gc dry-run unserve databases.example.com --from examples/versions.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	f := c.Flags()
	d.source.AddFlags(f)
	d.output.AddFlags(f)
	d.output.AddSortFlag(f)
	f.BoolVar(&d.fix, "fix", false, "Print the patches that migrate the references to another version. Nothing is sent.")
	f.BoolVar(&d.requireComplete, "require-complete", false, "Exit with 4 when the answer depends on something that could not be read.")
	usage.Unlist(f, "require-complete")
	return c
}

func (d *dryRunUnserve) run(c *cobra.Command, args []string) error {
	version := ""
	switch len(args) {
	case 0:
		return usage.Errorf(c, "which CRD? Give its name, as databases.example.com, and a version")
	case 1:
		if d.fix {
			return usage.Errorf(c, "--fix needs a version: when the CRD goes, there is none to migrate to")
		}
	case 2:
		version = args[1]
	default:
		return usage.Errorf(c, "one CRD and one version at a time; %d words were given", len(args))
	}
	if d.fix && slices.Contains(output.PlanFormats, d.output.Format) {
		return usage.Errorf(c, "--fix prints patches, and --output=%s shows who is exposed: one at a time", d.output.Format)
	}
	w, err := d.source.Read(c, d.streams, nil)
	if err != nil {
		return err
	}
	definition, err := findDefinition(w.Snapshot, args[0])
	if err != nil {
		return err
	}
	doc, err := d.judge(c, w.Snapshot, definition, version)
	if err != nil {
		return err
	}
	if err := d.show(c, w, doc); err != nil {
		return err
	}
	return exit.Verdict(doc.Summary.Exposed > 0 && !d.fix, d.requireComplete, doc.Complete)
}

// judge accepts a version with its group before it, as references have it.
func (d *dryRunUnserve) judge(c *cobra.Command, snap *snapshot.Snapshot, definition *object.Object, version string) (*report.Exposure, error) {
	if facts := definition.Definition(); facts != nil {
		version = strings.TrimPrefix(version, facts.Group+"/")
	}
	judging := progress.Begin(c, d.streams.ErrOut, "judging who is exposed")
	doc, err := unserve.Judge(c.Context(), snap, definition, version, unserve.Options{Fix: d.fix})
	judging.End()
	if unknown, ok := errors.AsType[*unserve.UnknownVersionError](err); ok {
		return nil, fmt.Errorf("%w%s", err, usage.DidYouMean(usage.Nearest(version, unknown.Versions)))
	}
	return doc, err
}

func (d *dryRunUnserve) show(c *cobra.Command, w source.World, doc *report.Exposure) error {
	text := output.As(render.ExposureText, doc)
	if d.fix {
		text = output.As(render.ExposurePatches, doc)
	}
	return d.output.Show(c, d.streams.Out, doc, text, output.Drawn(output.ExposureDrawing(c.Context(), w.Snapshot, doc)), output.Markdown(render.ExposureMarkdown, doc))
}

// findDefinition finds a definition by its name, or by what its instances are called.
func findDefinition(snap *snapshot.Snapshot, arg string) (*object.Object, error) {
	name := arg
	if kind, rest, ok := strings.Cut(arg, "/"); ok && answersToDefinition(kind) {
		name = rest
	}
	var definitions []*object.Object
	var names []string
	for _, o := range snap.Objects {
		if o.Definition() == nil {
			continue
		}
		if o.Name == name {
			return o, nil
		}
		definitions, names = append(definitions, o), append(names, o.Name)
	}
	if r, err := targets.FindResource(snap, name); err == nil {
		i := slices.IndexFunc(definitions, func(o *object.Object) bool {
			return o.Definition().Group == r.Group && o.Definition().Plural == r.Name
		})
		if i >= 0 {
			return definitions[i], nil
		}
		return nil, fmt.Errorf("%s is no custom resource whose CRD was seen: its versions are not known", r.GroupResource())
	}
	return nil, fmt.Errorf("no CRD %q was seen%s", name, usage.DidYouMean(usage.Nearest(name, names)))
}

func answersToDefinition(kind string) bool {
	return slices.Contains([]string{"crd", "crds", "customresourcedefinition", "customresourcedefinitions",
		"customresourcedefinition.apiextensions.k8s.io", "customresourcedefinitions.apiextensions.k8s.io"}, strings.ToLower(kind))
}

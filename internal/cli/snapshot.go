package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func newSnapshot(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from        = source.New(config)
		to, compact string
		past        = savePast{streams: streams, source: &from}
	)
	c := &cobra.Command{
		Use:   "snapshot [--from DUMP | --history] --to FILE",
		Short: "Write what deletion needs of a cluster or a dump to one small file",
		Long: text(`
			Write what deletion needs of a cluster or a dump in our own format: identities,
			owner references, finalizers and deletion times, and what tells whether
			controllers, nodes and webhooks work: conditions, leases, rights, webhooks, the names of
			programs, and warnings about what is being deleted. No other spec or status and no
			data of Secrets or ConfigMaps is in it. What was not seen is written down as well,
			so that every answer from the file is the answer that the dump gives, or that the
			cluster gave at that moment. Only what explain says of Events and what doctor asks
			the controllers themselves is not in it.

			With --history the file holds what the API server remembers of the last minutes
			instead, for lost and undo --from: every deletion, and whatever was deleted as it was
			before, spec and status and data included. The content of Secrets is in it only with
			--history-secrets.`),
		Example: templates.Examples(`
			kubectl gc snapshot --from examples/cluster.yaml --to /tmp/cluster.gz

			# Somebody deleted something: keep what the API server still has of it
			kubectl gc snapshot --history --to /tmp/cluster.history`),
		Args: usage.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return usage.Errorf(c, "where to? Give --to FILE, or --to - for standard output")
			}
			if err := past.check(c, to); err != nil {
				return err
			}
			if past.wanted {
				return past.save(c, to)
			}
			from.Written = true
			w, err := from.Read(c, streams, nil)
			if err != nil {
				return err
			}
			compression := compressionNamed(compact, to)
			if to == "-" {
				return w.Write(streams.Out, compression)
			}
			if err := writeSnapshot(w, to, compression); err != nil {
				return err
			}
			info, err := os.Stat(to)
			if err != nil {
				return err
			}
			fmt.Fprintf(streams.ErrOut, "%s: %d objects, %d gaps, %d bytes\n", to, len(w.Objects), len(w.Gaps), info.Size())
			return nil
		},
	}
	from.AddFlags(c.Flags())
	past.addFlags(c.Flags())
	c.Flags().StringVar(&to, "to", "", "The file to write; - for standard output.")
	usage.AddChoice(c.Flags(), &compact, "compression", "", "gzip, zstd or none (default: zstd for a name that ends in .zst, else gzip).", "gzip", "zstd", "none")
	return c
}

func compressionNamed(name, to string) snapshot.Compression {
	switch {
	case name == "none":
		return snapshot.Uncompressed
	case name == "zstd", name == "" && strings.HasSuffix(to, ".zst"):
		return snapshot.Zstd
	}
	return snapshot.Gzip
}

// writeSnapshot writes a snapshot atomically.
func writeSnapshot(w source.World, name string, compression snapshot.Compression) (err error) {
	partial := name + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	if err := w.Write(f, compression); err != nil {
		_ = f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(partial, name)
}

package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func newSnapshot(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from        = command.NewSource(config)
		to, compact string
		past        = savePast{streams: streams, source: &from}
	)
	c := &cobra.Command{
		Use:   "snapshot [--from DUMP | --history] --to FILE",
		Short: "Write what deletion needs of a cluster or a dump to one small file",
		Long: text(`
			Write what deletion needs of a cluster or a dump in our own format: identities,
			owner references, finalizers and deletion times, the names of other objects in specs
			and in lists of deployers, and what shows whether controllers, nodes and webhooks
			work: conditions, leases, permissions, webhooks, the names of programs, and warnings
			about what is being deleted. No other spec or status is in it, and of the data of
			Secrets and ConfigMaps only the names in the records of Helm. What was not seen is
			written down as well, so that every answer from the file is the answer that the dump
			gives, or that the cluster gave at that moment. Only what explain says of Events and
			what doctor asks the controllers themselves is not in it.

			With --history the file holds what the API server remembers of the last minutes
			instead, for lost and undo --from: every deletion, and whatever was deleted as it was
			before, spec and status and data included. The content of Secrets is in it only with
			--history-secrets.`),
		Example: templates.Examples(`
			kubectl gc snapshot --from examples/cluster.yaml --to /tmp/cluster.gz

			# Somebody deleted something: keep what the API server still has of it
			kubectl gc snapshot --history --to /tmp/cluster.history`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return command.Errorf(c, "where to? Give --to FILE, or --to - for standard output")
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
	command.AddChoice(c.Flags(), &compact, "compression", "", "gzip, zstd or none (default: zstd for a name that ends in .zst, else gzip).", "gzip", "zstd", "none")
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
func writeSnapshot(w command.World, name string, compression snapshot.Compression) error {
	return backup.WriteFile(name, func(f backup.File) error {
		if err := w.Write(f, compression); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// savePast is the command snapshot --history.
type savePast struct {
	streams genericiooptions.IOStreams
	source  *command.Source
	wanted  bool
	secrets bool
}

func (p *savePast) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&p.wanted, "history", false, "Save what the API server remembers of the last minutes, with all that was deleted.")
	f.BoolVar(&p.secrets, "history-secrets", false, "Keep the content of Secrets in the history, too.")
}

func (p *savePast) check(c *cobra.Command, to string) error {
	switch {
	case !p.wanted && p.secrets:
		return command.Errorf(c, "--history-secrets requires --history")
	case p.wanted && !p.source.Live():
		return command.Errorf(c, "--history is what an API server remembers: it does not go with --from")
	case p.wanted && to == "-":
		return command.Errorf(c, "--history needs a file: --to FILE")
	}
	return nil
}

// save writes the past of the cluster to a file.
func (p *savePast) save(c *cobra.Command, to string) error {
	client, err := p.source.Open(c, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	id, err := client.Cluster(c.Context())
	if err != nil {
		return err
	}
	record, err := (&pastQuestion{streams: p.streams}).read(c, client, nil)
	if err != nil {
		return err
	}
	var n past.Saved
	err = backup.WriteFile(to, func(f backup.File) error {
		n, err = past.Save(c.Context(), f, record, client, past.SaveOptions{
			Cluster: past.Cluster{UID: id.ClusterUID, Server: id.Server, Context: id.Context, Version: id.Version},
			Created: time.Now(), Secrets: p.secrets,
		})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.streams.ErrOut, "%s: %d changes since revision %d, %d objects as they were before they were deleted", to, len(record.Changes), record.From.Revision, n.Bodies)
	if n.WithoutBody > 0 {
		fmt.Fprintf(p.streams.ErrOut, ", %d without their content", n.WithoutBody)
	}
	fmt.Fprintln(p.streams.ErrOut)
	return nil
}

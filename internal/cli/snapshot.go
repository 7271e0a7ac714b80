package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func newSnapshot(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from        = newSource(config)
		to, compact string
	)
	c := &cobra.Command{
		Use:   "snapshot --from DUMP --to FILE",
		Short: "Write what deletion needs of a cluster or a dump to one small file",
		Long: text(`
			Write what deletion needs of a cluster or a dump in our own format: identities,
			owner references, finalizers and deletion times; no spec, no status, no Secret's
			data. What was not seen is written down as well, so that every answer from the
			file is the answer that the cluster or the dump gives.`),
		Example: templates.Examples(`
			kubectl gc snapshot --from examples/cluster.yaml --to /tmp/cluster.gz`),
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			compression, err := compressionNamed(compact, to)
			if err != nil {
				return usageErrorf(c, "%w", err)
			}
			if to == "" {
				return usageErrorf(c, "where to? Give --to FILE, or --to - for standard output")
			}
			w, err := from.read(c, streams, nil)
			if err != nil {
				return err
			}
			if to == "-" {
				return w.Write(streams.Out, compression)
			}
			if err := writeSnapshot(w.Snapshot, to, compression); err != nil {
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
	from.addFlags(c.Flags())
	c.Flags().StringVar(&to, "to", "", "The file to write; - for standard output.")
	c.Flags().StringVar(&compact, "compression", "", "gzip, zstd or none (default: zstd for a name that ends in .zst, else gzip).")
	return c
}

func compressionNamed(name, to string) (snapshot.Compression, error) {
	switch name {
	case "gzip":
		return snapshot.Gzip, nil
	case "zstd":
		return snapshot.Zstd, nil
	case "none":
		return snapshot.Uncompressed, nil
	case "":
		if strings.HasSuffix(to, ".zst") {
			return snapshot.Zstd, nil
		}
		return snapshot.Gzip, nil
	default:
		return 0, fmt.Errorf("--compression=%s: must be gzip, zstd or none", name)
	}
}

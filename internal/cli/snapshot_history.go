package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// savePast is the command snapshot --history.
type savePast struct {
	streams genericiooptions.IOStreams
	source  *source.Source
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
		return usage.Errorf(c, "--history-secrets goes with --history")
	case p.wanted && !p.source.Live():
		return usage.Errorf(c, "--history is what an API server remembers: it does not go with --from")
	case p.wanted && to == "-":
		return usage.Errorf(c, "--history needs a file: --to FILE")
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
	past, err := (&lookBack{streams: p.streams}).read(c, client, nil)
	if err != nil {
		return err
	}
	var n kept.Saved
	err = private.Whole(to, func(f private.File) error {
		n, err = kept.Save(c.Context(), f, past, client, kept.Saving{
			Cluster: kept.Cluster{UID: id.ClusterUID, Server: id.Server, Context: id.Context, Version: id.Version},
			Created: time.Now(), Secrets: p.secrets,
		})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.streams.ErrOut, "%s: %d changes since revision %d, %d objects as they were before they were deleted", to, len(past.Changes), past.From.Revision, n.Bodies)
	if n.Lacking > 0 {
		fmt.Fprintf(p.streams.ErrOut, ", %d without their content", n.Lacking)
	}
	fmt.Fprintln(p.streams.ErrOut)
	return nil
}

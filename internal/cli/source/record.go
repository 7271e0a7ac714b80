package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/etcd"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/history/stored"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Record is what remembers the past of a cluster: the cluster itself, or a file.
type Record struct {
	history.Record
	// Source is what it is of.
	Source report.Source
	// Served are the kinds that there are.
	Served func() (*object.Resources, error)
	// Live reports whether it is a cluster.
	Live bool
	// Flags name it on the command line of an undo; empty for the cluster of the context.
	Flags string
	close func()
}

// Close lets go of it.
func (r *Record) Close() { r.close() }

// AddRecordFlags adds those that choose what remembers the past.
func (s *Source) AddRecordFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.From, "from", nil,
		"Read the past from a file instead of a cluster: what snapshot --history wrote, or an etcd snapshot.")
	s.limits.addFlags(f)
	s.Cluster.AddRateFlags(f)
}

// MemoryLimit is how many bytes may be held of what is read, beside what each object takes.
func (s *Source) MemoryLimit() int64 { return cmp.Or(int64(s.limits.memory), snapshot.UsualMemory) }

// Remembers reports whether what is read is one file that remembers the past.
func (s *Source) Remembers() bool {
	if len(s.From) != 1 {
		return false
	}
	path := s.From[0]
	kept, err := isHistory(path)
	if kept || err != nil {
		return kept
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && remembers(path) == nil
}

// OpenRecord opens what remembers the past. The namespaces are told which one the context of the
// kubeconfig means.
func (s *Source) OpenRecord(c *cobra.Command, streams genericiooptions.IOStreams, n *Namespaces) (*Record, error) {
	switch {
	case len(s.From) > 1:
		return nil, usage.Errorf(c, "the past is in one file: give --from once")
	case !s.Live():
		r, err := s.openFile(c, streams, s.From[0])
		if err == nil {
			r.Flags = "--from=" + report.ShellWord(s.From[0])
		}
		return r, err
	}
	client, err := s.Open(c, n)
	if err != nil {
		return nil, err
	}
	r, err := RecordOf(c.Context(), client)
	if err != nil {
		client.Close()
		return nil, err
	}
	r.close = client.Close
	return r, nil
}

// RecordOf is what the server of a client remembers. To close it is to do nothing.
func RecordOf(ctx context.Context, client *kube.Client) (*Record, error) {
	id, err := client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return &Record{
		Record: client, Live: true, close: func() {},
		Source: report.Source{
			Type: "cluster", Context: id.Context, Server: id.Server, ClusterUID: id.ClusterUID, KubernetesVersion: id.Version,
			Rules: release.MinorOf(id.Version).Nearest().String(),
		},
		Served: func() (*object.Resources, error) {
			d, err := client.Discover(ctx)
			if err != nil {
				return nil, err
			}
			return d.Resources, nil
		},
	}, nil
}

// openFile opens a file that remembers the past.
func (s *Source) openFile(c *cobra.Command, streams genericiooptions.IOStreams, path string) (*Record, error) {
	if history, err := isHistory(path); err != nil {
		return nil, err
	} else if history {
		return s.openHistory(c, streams, path)
	}
	if err := remembers(path); err != nil {
		return nil, err
	}
	memory := NewMemory()
	defer progress.Begin(c, streams.ErrOut, progress.Reading(s.From)).End()
	r, err := progress.UnlessInterrupted(c.Context(), func() (*stored.Record, error) {
		return stored.Open(path, snapshot.Options{Limits: s.limits.limits(), Memory: memory.Room})
	})
	if err != nil {
		memory.End()
		return nil, LiftLimit(err)
	}
	s.Remark(r.Present(), streams.ErrOut)
	return &Record{
		Record: r, Source: plan.SourceOf(r.Present()),
		Served: func() (*object.Resources, error) { return r.Present().Resources, nil },
		close:  func() { r.Close(); memory.End() },
	}, nil
}

// remembers is an error for a file that shows one moment, and not what was before.
func remembers(path string) error {
	name := render.Escape(path)
	if path == "-" {
		return errors.New("the past cannot be read from standard input: give an etcd snapshot as a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, etcd.Sniffed)
	n, _ := io.ReadFull(f, start) // a directory cannot be read
	if etcd.Magic(start[:n]) {
		return nil
	}
	return fmt.Errorf("%s is a dump of one moment: only a history and an etcd snapshot, unpacked, remember what was before", name)
}

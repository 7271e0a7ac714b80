package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
)

// Record is the recorded past of a cluster, from the cluster itself or from a file.
type Record struct {
	past.Source
	// Origin describes where the record comes from.
	Origin report.Source
	// Served returns the existing kinds.
	Served func() (*object.Resources, error)
	// Live reports whether the record is read from a cluster.
	Live bool
	// Flags are the flags that select the record for an undo; empty for the cluster of the context.
	Flags string
	close func()
}

// Close releases the record.
func (r *Record) Close() { r.close() }

// AddRecordFlags adds the flags that select a record.
func (s *Source) AddRecordFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.From, "from", nil,
		"Read the past from a file instead of a cluster: what snapshot --history wrote, or an etcd snapshot.")
	s.limits.addFlags(f)
	s.Cluster.AddRateFlags(f)
}

// MemoryLimit returns the memory limit for reading, in bytes, in addition to that for each object.
func (s *Source) MemoryLimit() int64 { return cmp.Or(int64(s.limits.memory), snapshot.UsualMemory) }

// HasPast reports whether the input is one file with a past.
func (s *Source) HasPast() bool {
	if len(s.From) != 1 {
		return false
	}
	info, err := os.Stat(s.From[0])
	return err == nil && info.Mode().IsRegular() && s.CheckPast() == nil
}

// CheckPast is an error if the input is one file or directory without a past.
func (s *Source) CheckPast() error {
	if len(s.From) != 1 {
		return nil
	}
	if history, err := isHistory(s.From[0]); history || err != nil {
		return err
	}
	return checkHasPast(s.From[0])
}

// MomentError says that a dump shows only one moment.
type MomentError struct{ Path string }

// Error says what remembers more.
func (e *MomentError) Error() string {
	return e.Path + " is a dump of one moment: only a history and an etcd snapshot, unpacked, remember what was before"
}

// OpenRecord opens the record of the past. It sets the namespace of the context in n.
func (s *Source) OpenRecord(c *cobra.Command, streams genericiooptions.IOStreams, n *Namespaces) (*Record, error) {
	switch {
	case len(s.From) > 1:
		return nil, Errorf(c, "the past is in one file: give --from once")
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

// RecordOf returns the record of a client's server. Its Close does nothing.
func RecordOf(ctx context.Context, client *kube.Client) (*Record, error) {
	id, err := client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return &Record{
		Source: client, Live: true, close: func() {},
		Origin: report.Source{
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

// openFile opens a file with a past.
func (s *Source) openFile(c *cobra.Command, streams genericiooptions.IOStreams, path string) (*Record, error) {
	if history, err := isHistory(path); err != nil {
		return nil, err
	} else if history {
		return s.openHistory(c, streams, path)
	}
	if err := checkHasPast(path); err != nil {
		return nil, err
	}
	memory := NewMemory()
	defer BeginStage(c, streams.ErrOut, Reading(s.From)).End()
	r, err := UnlessInterrupted(c.Context(), func() (*past.EtcdFile, error) {
		return past.OpenEtcd(path, snapshot.Options{Limits: s.limits.limits(), Memory: memory.Room})
	})
	if err != nil {
		memory.End()
		return nil, LiftLimit(err)
	}
	s.PrintWarnings(r.Present(), streams.ErrOut)
	return &Record{
		Source: r, Origin: plan.SourceOf(r.Present()),
		Served: func() (*object.Resources, error) { return r.Present().Resources, nil },
		close:  func() { r.Close(); memory.End() },
	}, nil
}

// checkHasPast is an error if the file shows only one moment.
func checkHasPast(path string) error {
	if path == "-" {
		return errors.New("the past cannot be read from standard input: give an etcd snapshot as a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, etcd.Sniffed)
	n, _ := io.ReadFull(f, start) // reading a directory fails
	if etcd.Magic(start[:n]) {
		return nil
	}
	return &MomentError{render.Escape(path)}
}

// isHistory reports whether a path is a saved history.
func isHistory(path string) (bool, error) {
	if path == "-" {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // reading a pipe would consume it
		return false, err
	}
	return past.IsFile(path)
}

// openHistory opens a saved history.
func (s *Source) openHistory(c *cobra.Command, streams genericiooptions.IOStreams, path string) (*Record, error) {
	defer BeginStage(c, streams.ErrOut, Reading(s.From)).End()
	memory := NewMemory()
	r, err := UnlessInterrupted(c.Context(), func() (*past.File, error) {
		return past.OpenFile(c.Context(), path, snapshot.Options{Limits: s.limits.limits(), Memory: memory.Room})
	})
	if err != nil {
		memory.End()
		return nil, LiftLimit(err)
	}
	of := r.Cluster
	return &Record{
		Source: r, close: memory.End,
		Origin: report.Source{Type: "files", Files: []string{path}, ClusterUID: of.UID, KubernetesVersion: of.Version, Rules: release.MinorOf(of.Version).Nearest().String()},
		Served: func() (*object.Resources, error) { return r.Resources(), nil },
	}, nil
}

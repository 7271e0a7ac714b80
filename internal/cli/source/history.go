package source

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// isHistory reports whether a path is a history that was kept: a file of it, or a directory.
func isHistory(path string) (bool, error) {
	if path == "-" {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return kept.IsDirectory(path), nil
	}
	if !info.Mode().IsRegular() {
		return false, nil // what is read of a pipe is gone
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	begin := make([]byte, 64)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return kept.Is(begin[:n]), nil
}

// checkMoment is an error where a history is given, and what is there is asked for.
func (s *Source) checkMoment() error {
	for _, path := range s.From {
		if history, err := isHistory(path); err == nil && history {
			return fmt.Errorf("%s is a history: it has what was deleted, and not what is there; lost and undo read it, and explain of what is gone", render.Escape(path))
		}
	}
	return nil
}

// openHistory opens a history that was kept.
func (s *Source) openHistory(c *cobra.Command, streams genericiooptions.IOStreams, path string) (*Record, error) {
	key, err := kept.ReadKey(s.historyKey)
	if err != nil {
		return nil, usage.Errorf(c, "--history-key: %w", err)
	}
	defer progress.Begin(c, streams.ErrOut, progress.Reading(s.From)).End()
	r, err := progress.UnlessInterrupted(c.Context(), func() (*kept.Record, error) { return kept.Open(c.Context(), path, key) })
	if err != nil {
		return nil, err
	}
	for _, name := range r.Torn() {
		fmt.Fprintf(streams.ErrOut, "warning: the end of %s was not written: the history ends before it\n", render.Escape(name))
	}
	past, err := r.Past(c.Context(), history.Window{})
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", render.Escape(path), err)
	}
	of := r.Cluster()
	return &Record{
		Record: r, close: r.Close,
		Source: report.Source{Type: "files", Files: []string{path}, ClusterUID: of.UID, KubernetesVersion: of.Version, Rules: release.MinorOf(of.Version).Nearest().String()},
		Served: func() (*object.Resources, error) { return past.Resources, nil },
	}, nil
}

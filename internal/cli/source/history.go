package source

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// isHistory reports whether a path is a saved history.
func isHistory(path string) (bool, error) {
	if path == "-" {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // reading a pipe would consume it
		return false, err
	}
	return kept.Is(path)
}

// checkMoment is an error if a history is given to a command that needs the current state.
func (s *Source) checkMoment() error {
	for _, path := range s.From {
		if history, err := isHistory(path); err == nil && history {
			return fmt.Errorf("%s is a history: it has what was deleted, and not what is there; lost and undo read it, and explain of what is gone", render.Escape(path))
		}
	}
	return nil
}

// openHistory opens a saved history.
func (s *Source) openHistory(c *cobra.Command, streams genericiooptions.IOStreams, path string) (*Record, error) {
	defer progress.Begin(c, streams.ErrOut, progress.Reading(s.From)).End()
	memory := NewMemory()
	r, err := progress.UnlessInterrupted(c.Context(), func() (*kept.Record, error) {
		return kept.Open(c.Context(), path, snapshot.Options{Limits: s.limits.limits(), Memory: memory.Room})
	})
	if err != nil {
		memory.End()
		return nil, LiftLimit(err)
	}
	of := r.Cluster()
	return &Record{
		Record: r, close: memory.End,
		Source: report.Source{Type: "files", Files: []string{path}, ClusterUID: of.UID, KubernetesVersion: of.Version, Rules: release.MinorOf(of.Version).Nearest().String()},
		Served: func() (*object.Resources, error) { return r.Resources(), nil },
	}, nil
}

package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// unread is the error of a snapshot of which nothing was read that the question is about:
// whatever would be answered, it would be about nothing.
func (s *Source) unread(c *cobra.Command, snap *snapshot.Snapshot) error {
	if len(s.About) == 0 {
		if !snap.Blind("") {
			return nil
		}
		hint := ""
		if c.Flag("namespace") != nil && !s.Single {
			hint = "; with permissions in one namespace, name it with -n"
		}
		return fmt.Errorf("nothing of the cluster could be read: %s%s", refusal(snap.Unread("")), hint)
	}
	for _, ns := range s.About {
		if !snap.Blind(ns) {
			return nil
		}
	}
	return fmt.Errorf("nothing of namespace %s could be read: %s", strings.Join(s.About, ", "), refusal(snap.Unread(s.About[0])))
}

// refusal is what the server said of one of the kinds that were not read: a refusal says
// what was refused, and to whom.
func refusal(unread []snapshot.Gap) string {
	first := max(0, slices.IndexFunc(unread, func(g snapshot.Gap) bool { return g.Reason() == reason.Forbidden && g.APIVersion == "v1" }))
	_, text, _ := strings.Cut(unread[first].Why, ": ")
	if others := len(unread) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d other kinds)", others)
	}
	return text
}

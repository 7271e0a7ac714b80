package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// unread is an error if the snapshot contains nothing in the namespaces of the question, since any
// answer would be meaningless.
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

// refusal returns the error of one unread kind, preferably a Forbidden of the core group. That one
// names the resource and the user.
func refusal(unread []snapshot.Gap) string {
	first := max(0, slices.IndexFunc(unread, func(g snapshot.Gap) bool { return g.Reason() == reason.Forbidden && g.APIVersion == "v1" }))
	_, text, _ := strings.Cut(unread[first].Why, ": ")
	if others := len(unread) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d other kinds)", others)
	}
	return text
}

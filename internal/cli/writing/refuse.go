package writing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// refuse returns the error of a plan that must not be executed, with the command that lifts the
// obstacles. For a dry run it only prints them.
func (w *Writing) refuse(c *cobra.Command, args []string, streams genericiooptions.IOStreams, obstacles []report.Obstacle, live bool) error {
	text := render.ObstaclesText(obstacles)
	if lifts := w.lifting(obstacles); len(lifts) > 0 && live {
		text += "\nTo do it anyway:\n  " + commandLine(c, args, lifts...)
	}
	switch {
	case !live:
		text = "A run would be refused:" + text
	case w.OnlyShows():
		text = "Nothing was written. A run would be refused:" + text
	default:
		return &exit.Error{Code: exit.Refused, Message: "refused, nothing was written:" + text}
	}
	fmt.Fprintln(streams.ErrOut, render.EscapeLines(text))
	return nil
}

// lifting returns the flags that lift all obstacles; nil if one can't be lifted.
func (w *Writing) lifting(obstacles []report.Obstacle) []string {
	names, limit := slices.Clone(w.unlock), ""
	for i := range obstacles {
		switch o := &obstacles[i]; {
		case o.Limit < o.Planned:
			limit = "--max-deletes=" + strconv.Itoa(o.Planned)
		case o.Unlock == "":
			return nil
		case !slices.Contains(names, o.Unlock):
			names = append(names, o.Unlock)
		}
	}
	var flags []string
	if limit != "" {
		flags = append(flags, limit)
	}
	if len(names) > 0 {
		flags = append(flags, "--unlock="+strings.Join(names, ","))
	}
	return flags
}

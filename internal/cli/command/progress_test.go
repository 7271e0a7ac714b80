//go:build unix

package command

import (
	"bytes"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

// TestManner: progress is animated only on a capable terminal.
func TestManner(t *testing.T) {
	_, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	for name, x := range map[string]struct {
		mode, ci, term string
		elsewhere      bool
		want           display
	}{
		"terminal":               {mode: "auto", term: "xterm", want: animated},
		"no terminal":            {mode: "auto", term: "xterm", elsewhere: true, want: silent},
		"CI":                     {mode: "auto", term: "xterm", ci: "true", want: silent},
		"dumb":                   {mode: "auto", term: "dumb", want: silent},
		"plain":                  {mode: "plain", term: "xterm", want: lines},
		"plain, no terminal":     {mode: "plain", elsewhere: true, want: lines},
		"none":                   {mode: "none", term: "xterm", want: silent},
		"none for somebody dumb": {mode: "none", term: "dumb", want: silent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", x.ci)
			t.Setenv("TERM", x.term)
			c := &cobra.Command{}
			AddProgressFlag(c.Flags())
			if err := c.Flags().Set("progress", x.mode); err != nil {
				t.Fatal(err)
			}
			got := displayOf(c, terminal)
			if x.elsewhere {
				got = displayOf(c, &bytes.Buffer{})
			}
			if got != x.want {
				t.Errorf("%d, want %d", got, x.want)
			}
		})
	}
}

func TestFittedAndReading(t *testing.T) {
	for text, want := range map[string]string{"short": "short", "ten columns": "ten colum", "äöüäöüäöüäöü": "äöüäöüäöü"} {
		if got := fitted(text, 10); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, files := range map[string][]string{
		"reading a": {"a"}, "reading a, b": {"a", "b"}, "reading a, b and 2 more": {"a", "b", "c", "d"}, "reading standard input": {"a", "-"},
	} {
		if got := Reading(files); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

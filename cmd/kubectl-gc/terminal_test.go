//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

// onTerminal starts the program on a new terminal with that many columns. wait returns the exit
// code.
func onTerminal(t *testing.T, columns uint16, args ...string) (terminal *os.File, wait func() int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "kubectl-gc", args...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "CI" && name != "NO_COLOR" {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "TERM=xterm", "LC_ALL=C.UTF-8")
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal, func() int {
		_ = c.Wait()
		return c.ProcessState.ExitCode()
	}
}

// TestWidth: no line is wider than the terminal, unless wide output was requested.
func TestWidth(t *testing.T) {
	for _, columns := range []uint16{50, 72, 100} {
		for _, command := range []string{
			"dry-run delete deployment/web -n shop", "graph deployment/web -n shop", "explain deployment/web -n shop", "check", "risk", "stuck", "doctor --at 2026-11-22T12:00:00Z",
		} {
			args := append(strings.Fields(command), "--color=never", "--progress=none", "--from", "../../examples/cluster.yaml")
			terminal, wait := onTerminal(t, columns, args...)
			text, _ := io.ReadAll(terminal) // it ends with an error when the program does
			wait()
			if len(text) == 0 {
				t.Errorf("%s: nothing", command)
			}
			for line := range strings.Lines(string(text)) {
				line = strings.TrimRight(line, "\r\n")
				words := strings.Fields(line)
				if n := utf8.RuneCountInString(line); n > int(columns) && len(words) > 1 {
					t.Errorf("%s at %d columns: %d: %s", command, columns, n, line)
				}
			}
		}
	}
}

// TestInterruptedOnTerminal: progress is one updated line, which Ctrl-C erases.
func TestInterruptedOnTerminal(t *testing.T) {
	terminal, wait := onTerminal(t, 40, "dry-run", "delete", "deployment/web", "-n", "shop", "--explore=1000000000", "--from", "../../examples/shop.yaml")
	const clearLine = "\r\x1b[K"
	screen := bufio.NewReader(terminal)
	line := ""
	for n := 0; n < 2; { // the line has been written and written over
		r, _, err := screen.ReadRune()
		if err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		line += string(r)
		n = strings.Count(line, clearLine)
	}
	first := strings.Split(line, clearLine)[1]
	if !strings.HasPrefix(first, "simulating the delete") || utf8.RuneCountInString(first) >= 40 {
		t.Errorf("%q", first)
	}
	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(screen) // it ends with an error when the program does
	shown := strings.Split(line+string(rest), clearLine)
	last := strings.TrimPrefix(shown[len(shown)-1], "^C")
	if want := "error: interrupted while simulating the delete, and 1000000000 other schedules\r\n"; last != want {
		t.Errorf("left on the screen: %q, want %q", last, want)
	}
	if code := wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

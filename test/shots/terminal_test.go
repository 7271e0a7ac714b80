package shots

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// terminal is a real one, of so many columns, on which a test runs the program.
type terminal struct {
	keyboard, screen *os.File
	shown            chan []byte
}

func newTerminal(t *testing.T, columns int) *terminal {
	t.Helper()
	keyboard, screen, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 50, Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	term := &terminal{keyboard, screen, make(chan []byte, 1)}
	go func() {
		var all bytes.Buffer
		// When the last one that could write is gone, Linux says so with EIO.
		if _, err := io.Copy(&all, keyboard); err != nil && !errors.Is(err, syscall.EIO) {
			all.WriteString(err.Error())
		}
		term.shown <- all.Bytes()
	}()
	return term
}

// prints runs the program, types a line where it asks, and returns what the terminal
// shows, and the exit code.
func prints(t *testing.T, columns int, args []string, line string) (shown string, code int) {
	t.Helper()
	term := newTerminal(t, columns)
	streams := genericiooptions.IOStreams{In: &person{line, term.screen}, Out: term.screen, ErrOut: term.screen}
	code = cli.Main(t.Context(), append(append([]string{"kubectl-gc"}, args...), "--color=always"), streams)
	if err := term.screen.Close(); err != nil {
		t.Fatal(err)
	}
	shown = string(<-term.shown)
	if err := term.keyboard.Close(); err != nil {
		t.Fatal(err)
	}
	return shown, code
}

package oracle

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/creack/pty"
)

// said is what the program said.
type said struct {
	args      []string
	code      int
	out, errs string
	// asked reports whether somebody was asked.
	asked bool
	// signalled reports whether the program was ended by a signal.
	signalled bool
}

// question is what the program asks, up to the name of the context.
const question = "Type the name of the context ("

// listener is standard error of the program, and notices a question.
type listener struct {
	mu       sync.Mutex
	text     bytes.Buffer
	asked    bool
	question func(text string)
}

// Write takes up what the program says.
func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.text.Write(p)
	text := l.text.String()
	ask := false
	if !l.asked {
		ask = strings.Contains(text, question) && strings.HasSuffix(text, ": ")
		l.asked = ask
	}
	l.mu.Unlock()
	if ask && l.question != nil {
		go l.question(text)
	}
	return len(p), nil
}

// process is the program while it runs.
type process struct {
	cmd  *exec.Cmd
	once sync.Once
}

func (p *process) signal(s os.Signal) {
	p.once.Do(func() { _ = p.cmd.Process.Signal(s) }) // it may have ended by itself
}

// gc runs the program. With a question there is somebody at a terminal, who is told what
// was asked and returns what is typed.
func (t *trial) gc(ctx context.Context, started func(*process), question func(string) string, args ...string) (said, error) {
	cmd := exec.CommandContext(ctx, t.stage.program, args...)
	cmd.Dir = t.dir
	config := filepath.Join(t.dir, "config")
	if t.restores {
		config = t.Kubeconfig
	}
	cmd.Env = []string{"HOME=" + t.dir, "XDG_STATE_HOME=" + t.dir, "KUBECONFIG=" + config, "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	var out bytes.Buffer
	l := &listener{}
	cmd.Stdout, cmd.Stderr = &out, l
	if question != nil {
		terminal, tty, err := pty.Open()
		if err != nil {
			return said{}, err
		}
		defer func() { _ = terminal.Close() }()
		defer func() { _ = tty.Close() }()
		cmd.Stdin = tty
		l.question = func(text string) { _, _ = terminal.WriteString(question(text)) }
	}
	if err := cmd.Start(); err != nil {
		return said{}, err
	}
	if started != nil {
		started(&process{cmd: cmd})
	}
	err := cmd.Wait()
	if own := (*exec.ExitError)(nil); err != nil && !errors.As(err, &own) {
		return said{}, err
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return said{args, cmd.ProcessState.ExitCode(), out.String(), l.text.String(), l.asked, status.Signaled()}, nil
}

func (s said) String() string {
	return "$ kubectl gc " + strings.Join(s.args, " ") + "\n" + s.out + s.errs
}

package commands

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// TestLosesItsTerminal takes the terminal, or whoever reads what is printed, away from a
// process while its first write is under way: what was begun is finished, and the
// journal says what was sent and that it is all.
func TestLosesItsTerminal(t *testing.T) {
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		lose func(*exec.Cmd, io.Closer)
		code int
		all  bool // it goes on to its end
	}{
		"hangup": {func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Signal(syscall.SIGHUP) }, 130, false},
		"reader": {func(_ *exec.Cmd, reader io.Closer) { _ = reader.Close() }, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			var names []string
			for i := range 30 { // a signal takes its time
				names = append(names, fmt.Sprintf("map-%02d", i))
				s.configMap(names[i], "", "")
			}
			args := slices.Concat([]string{"delete", "configmap"}, names, []string{"-n", s.namespace, "--progress=plain"})
			args = append(args, s.confirmation(args...))
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(s.ctx, program)
			p := s.proxy(nil)
			p.cut = func(exchanged) bool { // before the server is asked
				if len(p.writes()) == 0 {
					x.lose(cmd, reader)
				}
				return false
			}
			cmd.Args = append(cmd.Args, append(append(args, "--kubeconfig="+plane.Kubeconfig), p.flags()...)...)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.state)
			// Whoever runs the tests may have them outlive a hangup, and so would what they start.
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP)
			defer signal.Stop(hangups)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = writer, writer
			if !x.all {
				cmd.Stdout, cmd.Stderr = &said, &said
			}
			err = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != x.code {
				t.Errorf("it ends with %d (%v), want %d\n%s", code, err, x.code, said.String())
			}
			_, _ = writer.Close(), reader.Close()
			b := s.bundle()
			if len(b.Unanswered()) > 0 || !b.Ended {
				t.Errorf("unanswered %v, ended %t", b.Unanswered(), b.Ended)
			}
			left, confirmed := s.names("ConfigMap"), 0
			for i := range b.Journal {
				if r := &b.Journal[i]; r.Kind == backup.Answered && r.Result.Outcome == backup.Confirmed {
					confirmed++
				}
			}
			left = slices.DeleteFunc(left, func(n string) bool { return !slices.Contains(names, n) })
			if gone := len(names) - len(left); gone != confirmed || gone == 0 || x.all != (gone == len(names)) {
				t.Errorf("%d are gone, the journal has %d", gone, confirmed)
			}
		})
	}
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// running is the program in a separate process.
type running struct {
	*exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr io.ReadCloser
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	p := &running{Cmd: exec.CommandContext(t.Context(), "kubectl-gc", args...)}
	p.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	for _, err := range []error{
		func() (err error) { p.stdin, err = p.StdinPipe(); return err }(),
		func() (err error) { p.stdout, err = p.StdoutPipe(); return err }(),
		func() (err error) { p.stderr, err = p.StderrPipe(); return err }(),
		p.Start(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// interrupt sends a signal. It fails the test unless the program exits with 130, nothing on stdout
// and one more line on stderr.
func (p *running) interrupt(t *testing.T, want string) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(&out, p.stdout) })
	both.Go(func() { _, _ = io.Copy(&errs, p.stderr) })
	both.Wait()
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if out.Len() > 0 {
		t.Errorf("on stdout: %q", out.String())
	}
	if errs.String() != want {
		t.Errorf("on stderr: %q, want %q", errs.String(), want)
	}
}

// TestInterruptedReading: reading a dump from a pipe is interrupted in the middle, even if the pipe
// is silent.
func TestInterruptedReading(t *testing.T) {
	p := start(t, "check", "--from", "-")
	// This is more than a pipe holds: once it is written, the program is reading.
	for range 4 {
		if _, err := p.stdin.Write(bytes.Repeat([]byte("# a comment of a dump\n"), 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	p.interrupt(t, "error: interrupted while reading standard input\n")
}

// TestInterruptedSimulation: trying schedules can be interrupted.
func TestInterruptedSimulation(t *testing.T) {
	p := start(t, "dry-run", "delete", "deployment/web", "-n", "shop", "--explore=1000000000", "--progress=plain", "-o", "json", "--from", "../../examples/shop.yaml")
	// The line says that it simulates, and that this takes long.
	first, err := bufio.NewReaderSize(p.stderr, 16).ReadString('\n')
	const doing = "simulating the delete, and 1000000000 other schedules"
	if err != nil || first != doing+" …\n" {
		t.Fatalf("%q, %v", first, err)
	}
	p.interrupt(t, "error: interrupted while "+doing+"\n")
}

// TestInterruptedCluster: a request to a server that does not answer is interrupted.
func TestInterruptedCluster(t *testing.T) {
	arrived, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(arrived) })
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	defer server.Close()
	defer close(ended)
	p := start(t, "check", "--server", server.URL, "--cache-dir", t.TempDir())
	<-arrived
	p.interrupt(t, "error: interrupted while reading the cluster\n")
}

// TestSecondInterruptKills: a second interrupt ends the process if the first one has no effect,
// because the program is blocked on a full pipe.
func TestSecondInterruptKills(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "many.yaml")
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-%d, namespace: shop, uid: u%d}\n", i, i)
	}
	if err := os.WriteFile(dump, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "dry-run", "delete", "configmaps", "--all", "-A", "-o", "json", "--from", dump)
	if _, err := p.stdout.Read(make([]byte, 1)); err != nil { // it prints more than a pipe holds
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_, _ = p.Process.Wait()
		close(done)
	}()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-done:
			return
		case <-again.C:
			_ = p.Process.Signal(syscall.SIGINT)
		}
	}
}

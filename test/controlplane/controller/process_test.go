package controller

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// process is a controller that runs.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  output
	done chan struct{}
	url  string
}

// output is what a process writes, for many goroutines.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a controller on the plane and waits until it answers. It is told to
// end when the test does, and has to end well then.
func start(t *testing.T, flags ...string) *process {
	t.Helper()
	return launch(t, append([]string{"--kubeconfig=" + plane.Kubeconfig}, flags...)...)
}

// launch starts a controller that is told the cluster by its flags.
func launch(t *testing.T, flags ...string) *process {
	t.Helper()
	p := &process{t: t, done: make(chan struct{})}
	p.cmd = exec.Command(program, append([]string{"controller", "--address=127.0.0.1:0", "-v=2"}, flags...)...)
	home := t.TempDir()
	// Its own empty kubeconfig: not on every machine is /dev/null one.
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = []string{"HOME=" + home, "KUBECONFIG=" + kubeconfig}
	p.cmd.Stderr = &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // its state says it
	}()
	t.Cleanup(func() {
		if p.ended() {
			return
		}
		if code := p.end(); code != 0 {
			t.Errorf("the controller ends with %d:\n%s", code, p.log.String())
		}
	})
	address := regexp.MustCompile(`msg=answering address=(\S+)`)
	until(t, "the controller answers", func() bool {
		if p.ended() {
			t.Fatalf("the controller has ended:\n%s", p.log.String())
		}
		m := address.FindStringSubmatch(p.log.String())
		if m != nil {
			p.url = "http://" + m[1]
		}
		return m != nil
	})
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end has the controller end and returns its exit code.
func (p *process) end() int {
	p.signal(syscall.SIGTERM)
	return p.code()
}

// code waits for the end.
func (p *process) code() int {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(cluster.Patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.t.Errorf("the controller does not end:\n%s", p.log.String())
		return -1
	}
}

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Errorf("%v: %v", s, err)
	}
}

// ask asks the controller over HTTP.
func (p *process) ask(path string) (code int, text string) {
	p.t.Helper()
	code, text, err := fetch(p.url + path)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
	return code, text
}

func fetch(url string) (code int, text string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), errors.Join(err, response.Body.Close())
}

// collecting waits until the controller collects.
func (p *process) collecting() *process {
	p.t.Helper()
	p.says("collecting")
	return p
}

// says waits for an answer of /readyz.
func (p *process) says(state string) {
	p.t.Helper()
	until(p.t, "/readyz says "+state, func() bool {
		_, text := p.ask("/readyz")
		return strings.TrimSpace(text) == state
	})
}

// metric is the sum of the series whose name and labels contain all of the words.
func (p *process) metric(name string, labels ...string) float64 {
	p.t.Helper()
	_, text := p.ask("/metrics")
	sum, found := 0.0, false
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		fits := true
		for _, l := range labels {
			fits = fits && strings.Contains(line, l)
		}
		if !fits {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(strings.TrimSpace(line), " "):]), 64)
		if err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		return -1
	}
	return sum
}

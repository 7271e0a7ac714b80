package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Manager is a controller manager that serves an API server of somebody else's.
type Manager struct {
	cmd   *exec.Cmd
	input io.Closer
	log   log
}

// StartManager starts a controller manager with these controllers against the API
// server at a URL that takes requests from everybody. Like a cluster it ends with
// the process that started it.
func StartManager(url string, controllers ...string) (*Manager, error) {
	return StartTalking(0, url, controllers...)
}

// StartTalking is StartManager with a verbosity of the log.
func StartTalking(verbosity int, url string, controllers ...string) (*Manager, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	m := &Manager{}
	m.cmd = exec.Command(path, "kube-controller-manager", "--master="+url,
		"--controllers="+strings.Join(controllers, ","), "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=2000", "--kube-api-burst=4000", "--v="+strconv.Itoa(verbosity))
	m.cmd.Stdout, m.cmd.Stderr = &m.log, &m.log
	m.cmd.Env = append(os.Environ(), "GOGC=400") // it lives for a short time, in which its heap grows
	if m.input, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	return m, nil
}

// Stop ends the controller manager and returns what it wrote.
func (m *Manager) Stop() []byte {
	_ = m.cmd.Process.Kill() // it may have ended by itself
	_ = m.cmd.Wait()         // with the error of a kill
	_ = m.input.Close()
	return m.Log()
}

// Log is what the controller manager wrote so far.
func (m *Manager) Log() []byte {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	return slices.Clone(m.log.text.Bytes())
}

// Logged are the lines so far of the log that contain a text.
func (m *Manager) Logged(text string) []string {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	var lines []string
	for rest := m.log.text.Bytes(); ; {
		i := bytes.Index(rest, []byte(text))
		if i < 0 {
			return lines
		}
		begin := bytes.LastIndexByte(rest[:i], '\n') + 1
		end := bytes.IndexByte(rest[i:], '\n')
		if end < 0 {
			return lines // the line is still being written
		}
		lines = append(lines, string(bytes.TrimSpace(rest[begin:i+end])))
		rest = rest[i+end+1:]
	}
}

// log is what a process writes, to be read while it runs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// KnownControllers are the names of all controllers of the controller manager, those
// that are off by default too, as it says in its help.
//
// Upstream: cmd/kube-controller-manager/app/controller_descriptor.go NewControllerDescriptors.
func KnownControllers() ([]string, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "kube-controller-manager", "--help")
	if _, err := cmd.StdinPipe(); err != nil { // it ends when nobody holds the other side
		return nil, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	const before = "All controllers: "
	for line := range strings.Lines(string(out)) {
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), before); ok {
			return strings.Split(list, ", "), nil
		}
	}
	return nil, fmt.Errorf("no line of its help begins with %q:\n%s", before, out)
}

// Ask reads what a controller says about itself, at a path below Debug that begins
// with its name. The controller manager has to run.
func (c *Cluster) Ask(ctx context.Context, path string) ([]byte, http.Header, error) {
	if c.Debug == "" {
		return nil, nil, errors.New("this control plane was started without the option Debug")
	}
	// The controller manager makes its certificate when it starts for the first time.
	ca, err := os.ReadFile(filepath.Join(c.Directory, "manager-certificates", "kube-controller-manager.crt"))
	if err != nil {
		return nil, nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, nil, errors.New("the controller manager has no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Debug+path, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, &AnswerError{Request: fmt.Sprintf("GET %s", path), Code: answer.StatusCode, Body: text}
	}
	return text, answer.Header, nil
}

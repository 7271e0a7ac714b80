// Package cluster starts real control planes for tests: etcd, kube-apiserver and,
// with the controllers that a test chooses, kube-controller-manager.
//
// A cluster is one process of the binary that `make controlplane` builds. It
// lives in a temporary directory, listens on free ports of the loopback interface
// and ends, directory included, with the process that started it, however that
// ends: it holds the other side of a pipe.
package cluster

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Binary is the environment variable that names the control plane's binary; when
// it is not set, it is bin/controlplane in the root of the repository.
const Binary = "CONTROLPLANE"

// Cluster is a running control plane.
type Cluster struct {
	URL        string `json:"url"`
	Token      string `json:"token"` // of a user of system:masters
	CA         string `json:"ca"`    // file
	Kubeconfig string `json:"kubeconfig"`
	Directory  string `json:"directory"`
	// Debug is where controllers say something about themselves, with [Debug].
	Debug string `json:"debug"`

	cmd     *exec.Cmd
	mu      sync.Mutex // one command at a time
	input   io.WriteCloser
	answers *bufio.Reader
	errors  bytes.Buffer
	client  *http.Client
	release string
}

// Option chooses a control plane that is not the usual one.
type Option string

// Debug has the controller manager answer everybody on this machine who asks for
// what its controllers say about themselves.
const Debug Option = "-debug"

// Cacheless has the API server answer from storage, without a watch cache.
const Cacheless Option = "-cacheless"

// Unrouted has the API server ask a service at its address or name, also where it is the
// name of a place outside of the cluster, rather than at its endpoints.
const Unrouted Option = "-unrouted"

// Proxy has the API server reach services by CONNECT through the proxy at a Unix socket: an EndpointSlice may
// have no loopback address, and nothing has the addresses that it has.
func Proxy(socket string) Option { return Option("-proxy=" + socket) }

// Audit has the API server write down every write, whether it was done or not, in
// the file that [Cluster.AuditLog] names: those of service accounts before they are done
// and, with what was asked for, when they were answered; those of everybody else without.
const Audit Option = "-audit"

// Encrypted has the API server encrypt Secrets and ConfigMaps in storage.
const Encrypted Option = "-encrypted"

// Compaction has the API server compact the storage at this interval: it remembers once to
// twice as much of the past.
func Compaction(interval time.Duration) Option { return Option("-compaction=" + interval.String()) }

// Admission enables admission plugins beside the usual ones.
func Admission(plugins ...string) Option {
	return Option("-admission=" + strings.Join(plugins, ","))
}

// Start starts a control plane without controllers and returns when it is ready:
// everything that is served is discovered and can be listed.
func Start(options ...Option) (*Cluster, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	c := &Cluster{cmd: exec.Command(path, "obey")}
	for _, o := range options {
		c.cmd.Args = append(c.cmd.Args, string(o))
	}
	c.cmd.Stderr = &c.errors
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = bufio.NewReader(output)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err = c.await(); err == nil {
		err = errors.Join(c.askRelease(context.Background()), c.Whole(context.Background()))
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) await() error {
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the control plane did not start: %w", err)
	}
	if err := json.Unmarshal(line, c); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	ca, err := os.ReadFile(c.CA)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return fmt.Errorf("%s: no certificate", c.CA)
	}
	c.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}}
	return nil
}

// Stop ends the control plane and removes what it left on disk.
func (c *Cluster) Stop() error {
	_ = c.input.Close() // the end of the input is what it waits for
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
	late := time.AfterFunc(Patience, func() { _ = c.cmd.Process.Kill() })
	_, _ = io.Copy(io.Discard, c.answers)
	err := c.cmd.Wait()
	if !late.Stop() {
		err = errors.Join(err, errors.New("it had to be killed"), os.RemoveAll(c.Directory))
	}
	if err != nil {
		return fmt.Errorf("control plane: %w\n%s", err, c.errors.Bytes())
	}
	return nil
}

// Controllers replaces the controller manager by one with these controllers; with
// none there is no controller manager.
func (c *Cluster) Controllers(names ...string) error {
	return c.Commands(strings.TrimSpace("controllers " + strings.Join(names, ",")))
}

// Stored is an object on its way into storage.
type Stored struct {
	// Key is the place below /registry.
	Key string
	// Manifest is JSON on one line, in the version in which the kind is stored.
	Manifest []byte
}

// Store puts objects into storage as they are, past the API server: with given
// UIDs and timestamps, and in states that no request leads to. The API server
// sees them as if it had stored them.
func (c *Cluster) Store(objects []Stored) error {
	lines := make([]string, len(objects))
	for i, o := range objects {
		lines[i] = "store " + o.Key + " " + string(o.Manifest)
	}
	return c.Commands(lines...)
}

// Wipe removes from storage whatever stands below one of the prefixes.
func (c *Cluster) Wipe(prefixes ...string) error {
	lines := make([]string, len(prefixes))
	for i, p := range prefixes {
		lines[i] = "wipe " + p
	}
	return c.Commands(lines...)
}

// Backup copies the storage as it is. The API server is away meanwhile.
func (c *Cluster) Backup() error { return c.Commands("backup") }

// Restore goes back to the last backup, revisions included. The API server is away
// meanwhile, and then at the same address; a controller manager keeps running.
func (c *Cluster) Restore() error { return c.Commands("restore") }

// Snapshot writes what `etcdctl snapshot save` writes.
func (c *Cluster) Snapshot(file string) error { return c.Commands("snapshot " + file) }

// Commands sends commands to the control plane and waits for all the answers.
func (c *Cluster) Commands(lines ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.input, strings.Join(lines, "\n")+"\n")
		sent <- err
	}()
	var failed []error
	for _, line := range lines {
		answer, err := c.answers.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the control plane ended: %w\n%s", err, c.errors.Bytes())
		}
		if answer = strings.TrimSpace(answer); answer != "ok" {
			failed = append(failed, fmt.Errorf("%.80s: %s", line, answer))
		}
	}
	return errors.Join(append(failed, <-sent)...)
}

// Log is what a part of the control plane wrote so far: "kube-apiserver" or
// "kube-controller-manager".
func (c *Cluster) Log(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(c.Directory, name+".log"))
}

// AuditLog is the file with the records of a cluster that was started with [Audit]: one
// audit.k8s.io/v1 Event in a line.
func (c *Cluster) AuditLog() string { return filepath.Join(c.Directory, "audit.log") }

// Kubectl runs kubectl, the one in the control plane's binary, as administrator and
// returns what it printed.
func (c *Cluster) Kubectl(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, append([]string{"kubectl", "--kubeconfig=" + c.Kubeconfig}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errOut
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, errOut.Bytes())
	}
	return out.Bytes(), nil
}

// Client speaks to the API server; requests need the token.
func (c *Cluster) Client() *http.Client { return c.client }

// Do sends a request as administrator and returns the answer's body. An answer
// that is no success is an *AnswerError.
func (c *Cluster) Do(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	return c.ask(ctx, method, path, "application/json", contentType, body)
}

func (c *Cluster) ask(ctx context.Context, method, path, accept, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Accept", accept)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, &AnswerError{Request: method + " " + path, Code: answer.StatusCode, Body: text}
	}
	return text, nil
}

// AnswerError is an answer that is no success.
type AnswerError struct {
	Request string
	Code    int
	Body    []byte
}

// Error names the request and what the server said.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s: %d: %s", e.Request, e.Code, bytes.TrimSpace(e.Body))
}

// Code is the status of an answer that is no success; 0 for anything else.
func Code(err error) int {
	var answer *AnswerError
	if errors.As(err, &answer) {
		return answer.Code
	}
	return 0
}

// binary finds the control plane's binary.
func binary() (string, error) {
	if path := os.Getenv(Binary); path != "" {
		return path, nil
	}
	root, err := repository()
	if err != nil {
		return "", fmt.Errorf("%s is not set: %w", Binary, err)
	}
	path := filepath.Join(root, "bin", "controlplane")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("there is no control plane to start: `make controlplane` builds it: %w", err)
	}
	return path, nil
}

// repository is the root of the repository.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "test", "controlplane", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not within the repository")
		}
		dir = filepath.Dir(dir)
	}
}

// Flags are kubectl's flags for the cluster.
func (c *Cluster) Flags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &c.Kubeconfig
	return flags
}

// Connect is the program's own client of the cluster.
func (c *Cluster) Connect(o kube.Options) (*kube.Client, error) {
	return command.Connect(c.Flags(), o)
}

// Release is the version of Kubernetes that the API server says it is, such as v1.31.0.
// It is asked once, at the start.
func (c *Cluster) Release() string { return c.release }

// Minor is the release whose rules the control plane follows; 0 when its version names none.
func (c *Cluster) Minor() release.Minor { return release.MinorOf(c.release) }

func (c *Cluster) askRelease(ctx context.Context) error {
	text, err := c.Do(ctx, http.MethodGet, "/version", "", nil)
	if err != nil {
		return err
	}
	var says struct{ GitVersion string }
	err = json.Unmarshal(text, &says)
	c.release = says.GitVersion
	return err
}

// Main runs the tests of a package, which share a control plane, and returns the code
// to exit with.
func Main(m *testing.M, shared **Cluster, options ...Option) (code int) {
	c, err := Start(options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*shared = c
	defer func() {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

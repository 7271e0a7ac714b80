// Package program runs the garbage collector for tests as a separate process. It imports nothing of
// kubectl-gc, so the go.mod of an operator stays as it is. Copy collector.go.
package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Collector is a running kubectl-gc, which has to be on the PATH.
type Collector struct {
	url     string
	process *exec.Cmd
	objects client.Client
}

// Start starts a collector on the API server of env, which must outlive it. More options are those
// of `kubectl gc controller`, such as --claim-protection.
func Start(t *testing.T, env *envtest.Environment, objects client.Client, options ...string) *Collector {
	t.Helper()
	user, err := env.AddUser(envtest.User{Name: "collector", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"controller", "--preset=envtest", "--address=127.0.0.1:0", "--kubeconfig", file}, options...)
	c := &Collector{process: exec.Command("kubectl-gc", args...), objects: objects}
	c.process.Stderr = t.Output()
	out, err := c.process.StdoutPipe()
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.process.Process.Signal(os.Interrupt)
		_ = c.process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("kubectl-gc has ended: %v", err)
	}
	c.url = strings.TrimPrefix(strings.TrimSpace(line), "ready ")
	return c
}

// WaitSettled returns when nothing is left to do, or an error that says what is.
func (c *Collector) WaitSettled(ctx context.Context) error {
	_, err := c.ask(ctx, "/settled?timeout=30s")
	return err
}

// Explain says why an object is there, is being deleted or is gone.
func (c *Collector) Explain(ctx context.Context, o client.Object) string {
	kind, err := apiutil.GVKForObject(o, c.objects.Scheme())
	if err != nil {
		return err.Error()
	}
	version, name := kind.ToAPIVersionAndKind()
	text, err := c.ask(ctx, "/explain?"+url.Values{
		"apiVersion": {version}, "kind": {name}, "namespace": {o.GetNamespace()}, "name": {o.GetName()}, "uid": {string(o.GetUID())},
	}.Encode())
	if err != nil {
		return err.Error()
	}
	return text
}

func (c *Collector) ask(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("kubectl-gc: %s", strings.TrimSpace(string(text)))
	}
	return strings.TrimSpace(string(text)), err
}

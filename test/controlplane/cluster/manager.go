package cluster

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Manager is a controller manager that serves an API server of somebody else's.
type Manager struct {
	cmd   *exec.Cmd
	dir   string
	input io.Closer
	log   bytes.Buffer
}

// StartManager starts a controller manager with these controllers against the API
// server at a URL that takes requests from everybody. Like a cluster it ends with
// the process that started it.
func StartManager(url string, controllers ...string) (*Manager, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "controller-manager-")
	if err != nil {
		return nil, err
	}
	m := &Manager{dir: dir}
	config := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	m.cmd = exec.Command(path, "kube-controller-manager", "--kubeconfig="+config,
		"--controllers="+strings.Join(controllers, ","), "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=2000", "--kube-api-burst=4000")
	m.cmd.Stdout, m.cmd.Stderr = &m.log, &m.log
	if m.input, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	return m, nil
}

// Stop ends the controller manager and returns what it wrote.
func (m *Manager) Stop() ([]byte, error) {
	_ = m.cmd.Process.Kill() // it may have ended by itself
	_ = m.cmd.Wait()         // with the error of a kill
	_ = m.input.Close()
	return m.log.Bytes(), os.RemoveAll(m.dir)
}

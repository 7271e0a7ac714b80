package cluster

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
)

// Manager is a controller manager that serves an API server of somebody else's.
type Manager struct {
	cmd   *exec.Cmd
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
	m := &Manager{}
	m.cmd = exec.Command(path, "kube-controller-manager", "--master="+url,
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
func (m *Manager) Stop() []byte {
	_ = m.cmd.Process.Kill() // it may have ended by itself
	_ = m.cmd.Wait()         // with the error of a kill
	_ = m.input.Close()
	return m.log.Bytes()
}

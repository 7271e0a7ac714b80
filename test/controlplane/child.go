package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// child is a process of this very binary. Its input is a pipe that nobody writes
// to: it ends with the process that holds the other side.
type child struct {
	name  string
	log   string
	input io.Closer
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

// thrift spends memory to save processors: most of a short life is a heap that grows.
var thrift = []string{"GOGC=400", "GOMEMLIMIT=1GiB"}

func startChild(dir, name string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, log: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	c.cmd = exec.Command(self, append([]string{name}, args...)...)
	// A Ctrl-C is for the process that a person started; this one ends after it.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, log, log
	c.cmd.Env = append(os.Environ(), thrift...)
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// stop ends the process without ceremony: nothing that it stored outlives it.
func (c *child) stop() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.ended
	_ = c.input.Close()
}

// failure is why the process ended, with the end of its log.
func (c *child) failure() error {
	<-c.ended
	err := c.err
	if err == nil {
		err = errors.New("exit status 0")
	}
	return fmt.Errorf("%s: %w\n%s", c.name, err, c.tail())
}

func (c *child) tail() string {
	const most = 4 << 10
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

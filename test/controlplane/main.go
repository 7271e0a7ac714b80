// Command controlplane is a Kubernetes control plane in one binary: etcd,
// kube-apiserver, kube-controller-manager and kubectl, all of the version that
// go.mod pins. The tests start it through package cluster; `make kube-up` starts
// one for a person. Called etcd, kube-apiserver or kubectl, as a link to it may be,
// it is that program: envtest starts programs of these names.
//
// It is nothing to run workloads on: there are no nodes, storage is never
// flushed to disk, everything listens on the loopback interface only, and all of
// it is gone when the program ends.
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
	_ "time/tzdata" // CronJobs name time zones

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl offers them
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // registers metrics of clients
	_ "k8s.io/component-base/metrics/prometheus/version"  // registers the version metric
	"k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

const usage = `usage: controlplane up [CONTROLLERS]  start a control plane for a person, until Ctrl-C
       controlplane obey              start one for a test, which gives commands
       controlplane kubectl ARGS…     run kubectl
`

func main() {
	switch called := filepath.Base(os.Args[0]); called {
	case "etcd", "kube-apiserver", "kubectl":
		run(called)
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	switch name {
	case "up":
		end(up(os.Args[1:]))
	case "obey":
		end(obey(os.Args[1:]))
	case "kube-apiserver", "kube-controller-manager":
		endWithInput()
		run(name)
	case "kubectl":
		run(name)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}

// run is one of the programs inside, with the arguments of this process.
func run(program string) {
	switch program {
	case "etcd":
		end(storage(os.Args[1:]))
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kubectl":
		if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// endWithInput ends this process when its input ends. The input is a pipe from
// whoever started it, so it ends however that ends: nothing is left behind, even
// after a kill.
func endWithInput() {
	go func() {
		buffer := make([]byte, 1)
		for {
			if _, err := os.Stdin.Read(buffer); err != nil {
				os.Exit(0)
			}
		}
	}()
}

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

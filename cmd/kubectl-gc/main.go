// Command kubectl-gc is the kubectl plugin `kubectl gc`.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs name them
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

func main() {
	collectLater()
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop)                      // from now on another interrupt kills
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // what fails is an error of a command, and said once
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code := cli.Main(ctx, os.Args, streams)
	stop()
	os.Exit(code)
}

// endings are the signals that ask for an end. The loss of the terminal is one of them,
// so that a run says what it has sent; unless it was started to outlive that (nohup).
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// collectLater leaves garbage alone until there is ten times as much of it as of what
// is in use after the start, some 25 MB: help and completion end before, and then a
// third of their time does not go into collecting it three times over. From the first
// collection on it is as usual.
func collectLater() {
	usual := debug.SetGCPercent(1000)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
}

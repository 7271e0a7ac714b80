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
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the auth providers that kubeconfigs name
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

func main() {
	collectLater()
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop)                      // a second interrupt kills the process
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // commands report their errors themselves
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code := cli.Main(ctx, os.Args, streams)
	stop()
	os.Exit(code)
}

// endings returns the signals that end a command. The loss of the terminal (SIGHUP) is one of them,
// so that a run can report what it has sent. Under nohup it is not.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// collectLater delays Go's first garbage collection until garbage is ten times the memory in use
// after the start, about 25 MB. Help and completion end before that. They would otherwise collect
// three times, which takes a third of their time. The cleanup of an unreachable array runs after the
// first collection and restores the usual setting.
func collectLater() {
	usual := debug.SetGCPercent(1000)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
}

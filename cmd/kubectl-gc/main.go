// Command kubectl-gc is the kubectl plugin `kubectl gc`.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs name them
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)                      // from now on another interrupt kills
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // what fails is an error of a command, and said once
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code := cli.Main(ctx, os.Args, streams)
	stop()
	os.Exit(code)
}

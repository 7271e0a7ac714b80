package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// announcement is the first line for a test: how to reach the cluster.
type announcement struct {
	URL        string `json:"url"`
	Token      string `json:"token"`
	CA         string `json:"ca"`
	Kubeconfig string `json:"kubeconfig"`
	Directory  string `json:"directory"`
	Debug      string `json:"debug,omitempty"`
}

// obey starts etcd and an API server, says so, and then obeys one command a line
// until the input ends or a signal arrives:
//
//	controllers NAME,NAME…   (re)start the controller manager with these controllers
//	controllers              stop the controller manager
//	store KEY JSON           put an object into storage as it is, below /registry
//	wipe PREFIX              remove everything below /registry that begins with this
//	backup                   copy the storage; the API server is away meanwhile
//	restore                  go back to that copy, in the same way
//	snapshot FILE            write what etcdctl snapshot save writes
//
// Every command is answered by one line, `ok` or `error: …`.
//
// The arguments choose a control plane that is not the usual one.
func obey(args []string) (err error) {
	var c choice
	flags := flag.NewFlagSet("obey", flag.ContinueOnError)
	flags.StringVar(&c.admission, "admission", "", "admission plugins to enable beside the usual ones")
	flags.BoolVar(&c.debug, "debug", false, "let everybody on this machine read the debug endpoints of the controller manager")
	flags.BoolVar(&c.cacheless, "cacheless", false, "have the API server answer from storage, without a watch cache")
	flags.BoolVar(&c.unrouted, "unrouted", false, "have the API server ask services by address or name, not at their endpoints")
	flags.StringVar(&c.proxy, "proxy", "", "the Unix socket of a proxy through which the API server reaches services")
	flags.BoolVar(&c.audit, "audit", false, "have the API server write every write down in audit.log")
	flags.DurationVar(&c.compaction, "compaction", 0, "have the API server forget what is older than twice this; 0 for its default")
	flags.BoolVar(&c.encrypted, "encrypted", false, "have the API server encrypt Secrets and ConfigMaps in storage")
	if err := flags.Parse(args); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // an answer that nobody reads any more is no reason not to clean up
	ctx, stop := interruptible()
	defer stop()
	lines := make(chan string)
	go func() {
		defer stop()
		defer close(lines)
		input := bufio.NewScanner(os.Stdin)
		input.Buffer(nil, 4<<20)
		for input.Scan() {
			select {
			case lines <- input.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	p, err := newPlane(ctx, c)
	defer func() { err = errors.Join(err, p.down()) }()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(announcement{
		URL: p.access.url, Token: p.access.admin, CA: p.access.ca, Kubeconfig: p.access.kubeconfig, Directory: p.dir, Debug: p.debugURL(),
	}); err != nil {
		return err
	}
	return p.obey(ctx, lines, os.Stdout)
}

func (p *plane) obey(ctx context.Context, lines <-chan string, answers io.Writer) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.server.ended:
			return fmt.Errorf("kube-apiserver ended: %w", p.server.failure())
		case <-p.managerEnded():
			return fmt.Errorf("kube-controller-manager ended: %w", p.manager.failure())
		case line, more := <-lines:
			if !more {
				return nil
			}
			answer := "ok"
			if err := p.command(ctx, line); err != nil {
				answer = "error: " + strings.ReplaceAll(err.Error(), "\n", " | ")
			}
			if _, err := fmt.Fprintln(answers, answer); err != nil {
				return err
			}
		}
	}
}

func (p *plane) command(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "controllers":
		return p.controllers(ctx, rest)
	case "store":
		key, manifest, _ := strings.Cut(rest, " ")
		return p.store(ctx, key, []byte(manifest))
	case "wipe":
		return p.wipe(ctx, rest)
	case "backup":
		return p.backup(ctx)
	case "restore":
		return p.restore(ctx)
	case "snapshot":
		return p.snapshot(ctx, rest)
	default:
		return fmt.Errorf("there is no command %q", verb)
	}
}

// controllers replaces the controller manager. Without names there is none.
func (p *plane) controllers(ctx context.Context, names string) error {
	if p.manager != nil {
		p.manager.stop()
		p.manager = nil
		if err := p.giveUp(ctx); err != nil {
			return err
		}
	}
	if names == "" {
		return nil
	}
	return p.startManager(ctx, names)
}

// managerEnded is closed when the controller manager ends by itself; it never is
// while there is none.
func (p *plane) managerEnded() <-chan struct{} {
	if p.manager == nil {
		return nil
	}
	return p.manager.ended
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"golang.org/x/sys/unix"
)

// plane is a running control plane. It lives in one directory.
type plane struct {
	choice
	dir     string
	etcd    *embed.Etcd
	storage *clientv3.Client // of etcd, within this process
	server  *child
	manager *child
	// leads: the lease of the controller manager is ours.
	leads  bool
	access access
	// reserved are sockets that keep ports.
	reserved []int
	// port is where the API server serves.
	port int
	// debugPort is where the controller manager serves, if it does.
	debugPort int
}

// choice is how a control plane differs from the usual one.
type choice struct {
	// admission are the plugins that the API server has beside its usual ones.
	admission string
	// debug lets everybody on this machine read what the controllers say about
	// themselves.
	debug bool
	// cacheless has the API server answer from storage alone.
	cacheless bool
	// compaction is how often the API server has the storage forget; 0 for its default.
	compaction time.Duration
	// unrouted has the API server send what it asks of a service to the address or the
	// name of the service, where it has nobody who forwards it.
	unrouted bool
	// audit has the API server keep a record of every write.
	audit bool
	// encrypted has the API server encrypt Secrets and ConfigMaps in storage.
	encrypted bool
}

// usual are the controllers that a person gets: what makes workloads and what
// takes things away.
var usual = strings.Join([]string{
	"garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "endpointslice-controller", "disruption-controller",
	"pod-garbage-collector-controller", "persistentvolumeclaim-protection-controller",
}, ",")

// up runs a control plane for a person, until a signal arrives.
func up(args []string) (err error) {
	ctx, stop := interruptible()
	defer stop()
	controllers := usual
	if len(args) > 0 {
		controllers = args[0]
	}
	p, err := newPlane(ctx, choice{})
	defer func() { err = errors.Join(err, p.down()) }()
	if err != nil {
		return err
	}
	if err := p.startManager(ctx, controllers); err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", p.access.kubeconfig)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("alias kubectl='%s kubectl'\n", self)
	select {
	case <-ctx.Done():
		return nil
	case <-p.server.ended:
		return p.server.failure()
	case <-p.manager.ended:
		return p.manager.failure()
	}
}

func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// newPlane starts etcd and the API server. What it returns has to be taken down,
// also beside an error.
func newPlane(ctx context.Context, c choice) (*plane, error) {
	p := &plane{choice: c}
	dir, err := os.MkdirTemp("", "controlplane-")
	if err != nil {
		return p, err
	}
	p.dir = dir
	return p, p.start(ctx)
}

// down stops everything in the reverse order of the start and removes the
// directory.
func (p *plane) down() error {
	if p.manager != nil {
		p.manager.stop()
	}
	if p.server != nil {
		p.server.stop()
	}
	if p.etcd != nil {
		_ = p.storage.Close()
		p.etcd.Close()
	}
	for _, socket := range p.reserved {
		_ = unix.Close(socket)
	}
	return os.RemoveAll(p.dir)
}

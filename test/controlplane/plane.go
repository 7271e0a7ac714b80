package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
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
	// proxy is the socket of a proxy through which the API server reaches services; empty for none.
	proxy string
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

// access is how clients reach the API server, and the files that say so.
type access struct {
	url string
	// admin is the token of a user of system:masters.
	admin string
	// certificates is where the API server leaves its certificate, and ca the
	// certificate itself.
	certificates, ca string
	// tokens and key are read by the API server.
	tokens, key string
	// kubeconfig and manager are for people and for the controller manager.
	kubeconfig, manager string
}

func newAccess(dir string, port int) (access, error) {
	a := access{
		url:          fmt.Sprintf("https://127.0.0.1:%d", port),
		admin:        rand.Text(),
		certificates: filepath.Join(dir, "certificates"),
		tokens:       filepath.Join(dir, "tokens.csv"),
		key:          filepath.Join(dir, "service-account.pem"),
		kubeconfig:   filepath.Join(dir, "kubeconfig"),
		manager:      filepath.Join(dir, "kube-controller-manager.kubeconfig"),
	}
	a.ca = filepath.Join(a.certificates, "apiserver.crt")
	managerToken := rand.Text()
	key, err := newKey()
	if err != nil {
		return access{}, err
	}
	for name, content := range map[string]string{
		a.tokens: fmt.Sprintf("%s,admin,admin,system:masters\n%s,system:kube-controller-manager,manager,system:masters\n",
			a.admin, managerToken),
		a.key:        key,
		a.kubeconfig: a.config(a.admin),
		a.manager:    a.config(managerToken),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return access{}, err
		}
	}
	return a, nil
}

func newKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}

func (a access) config(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: controlplane
clusters:
- name: controlplane
  cluster:
    server: %s
    certificate-authority: %s
users:
- name: controlplane
  user:
    token: %s
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: controlplane
`, a.url, a.ca, token)
}

// reserve chooses a free port and keeps everybody else from it until the plane is
// down: a socket is bound to it, which never listens, and who permits that the port is
// shared may listen there. A port that was only looked for could be somebody else's by
// the time it is used, or used again.
func (p *plane) reserve() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	p.reserved = append(p.reserved, socket)
	if err := errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	); err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	at, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	return at.(*unix.SockaddrInet4).Port, nil
}

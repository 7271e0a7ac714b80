package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// patience is how long a part may take until it is ready.
const patience = 2 * time.Minute

// start brings up etcd and the API server and returns when both are ready.
func (p *plane) start(ctx context.Context) (err error) {
	if p.etcd, err = startEtcd(ctx, filepath.Join(p.dir, "etcd")); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	p.storage = v3client.New(p.etcd.Server)
	port, err := freePort()
	if err != nil {
		return err
	}
	if p.access, err = newAccess(p.dir, port); err != nil {
		return err
	}
	return p.startServer(ctx, port)
}

// startEtcd runs etcd in this process, on a port of its own choice.
func startEtcd(ctx context.Context, dir string) (*embed.Etcd, error) {
	c := embed.NewConfig()
	c.Dir = dir
	c.LogLevel = "error"
	c.LogOutputs = []string{dir + ".log"}
	c.EnableGRPCGateway = false
	c.UnsafeNoFsync = true
	c.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c.ListenPeerUrls = c.ListenClientUrls
	c.AdvertiseClientUrls = c.ListenClientUrls
	c.AdvertisePeerUrls = c.ListenClientUrls
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case err := <-e.Err():
		return nil, err
	case <-time.After(patience):
		err = fmt.Errorf("not ready after %s", patience)
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.Close()
	return nil, err
}

func (p *plane) startServer(ctx context.Context, port int) (err error) {
	p.server, err = startChild(p.dir, "kube-apiserver",
		"--etcd-servers=http://"+p.etcd.Clients[0].Addr().String(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--cert-dir="+p.access.certificates,
		"--token-auth-file="+p.access.tokens,
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--service-account-issuer=https://127.0.0.1",
		"--service-account-key-file="+p.access.key,
		"--service-account-signing-key-file="+p.access.key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		// Pods want no token of a service account that nobody created.
		"--disable-admission-plugins=ServiceAccount",
		// What is wanted is what happens, not fairness.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--delete-collection-workers=1",
		"--profiling=false",
	)
	if err != nil {
		return err
	}
	return p.ready(ctx)
}

func (p *plane) startManager(ctx context.Context, controllers string) (err error) {
	p.manager, err = startChild(p.dir, "kube-controller-manager",
		"--kubeconfig="+p.access.manager,
		"--controllers="+controllers,
		"--leader-elect=false",
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--secure-port=0",
		"--bind-address=127.0.0.1",
		"--service-account-private-key-file="+p.access.key,
		"--profiling=false",
	)
	if err != nil {
		return err
	}
	select {
	case <-p.manager.ended:
		return p.manager.failure()
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second): // what it was given wrong, it says at once
		return nil
	}
}

// ready waits until the API server says that it is.
func (p *plane) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		why := p.probe(ctx)
		if why == nil {
			return nil
		}
		select {
		case <-p.server.ended:
			return p.server.failure()
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w: %w\n%s", ctx.Err(), why, p.server.tail())
		case <-tick.C:
		}
	}
}

func (p *plane) probe(ctx context.Context) error {
	ca, err := os.ReadFile(p.access.ca)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.access.url+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.access.admin)
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz: %s", answer.Status)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/apimachinery/pkg/util/uuid"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// patience is how long a part may take until it is ready, on whatever machine.
const patience = 5 * time.Minute

// accounts is the one admission plugin of the usual ones that has to be asked for:
// with it pods want the token of a service account that somebody has created.
const accounts = "ServiceAccount"

// start brings up etcd and the API server and returns when both are ready.
func (p *plane) start(ctx context.Context) (err error) {
	if p.etcd, err = startEtcd(ctx, p.stored()); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	p.storage = v3client.New(p.etcd.Server)
	if p.port, err = p.reserve(); err != nil {
		return err
	}
	if p.access, err = newAccess(p.dir, p.port); err != nil {
		return err
	}
	if p.debug {
		if p.debugPort, err = p.reserve(); err != nil {
			return err
		}
	}
	return p.startServer(ctx, p.port)
}

// startEtcd runs etcd in this process, on a port of its own choice.
func startEtcd(ctx context.Context, dir string) (*embed.Etcd, error) {
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	e, err := embed.StartEtcd(etcdConfig(dir, free, free))
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

// etcdConfig is an etcd that serves clients and peers at these addresses, and stores in dir.
func etcdConfig(dir string, clients, peers url.URL) *embed.Config {
	c := embed.NewConfig()
	c.Dir = dir
	c.LogLevel = "error"
	c.LogOutputs = []string{dir + ".log"}
	c.EnableGRPCGateway = false
	c.UnsafeNoFsync = true
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	return c
}

// proxying are the arguments with which the API server sends what it asks of services to a proxy, by CONNECT.
func (p *plane) proxying() ([]string, error) {
	config := fmt.Sprintf(`{"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": [{"name": "cluster",
"connection": {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": %q}}}}]}`, p.proxy)
	file := filepath.Join(p.dir, "egress.json")
	return []string{"--egress-selector-config-file=" + file}, os.WriteFile(file, []byte(config), 0o600)
}

func (p *plane) startServer(ctx context.Context, port int) (err error) {
	args := []string{
		"--etcd-servers=http://" + p.etcd.Clients[0].Addr().String(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--permit-port-sharing=true", // with the reservation
		"--cert-dir=" + p.access.certificates,
		"--token-auth-file=" + p.access.tokens,
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--service-account-issuer=https://127.0.0.1",
		"--service-account-key-file=" + p.access.key,
		"--service-account-signing-key-file=" + p.access.key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		// Nobody forwards what is sent to the address of a service: webhooks and
		// aggregated APIs are asked at their endpoints, and without one a request fails at
		// once, whatever the network of this machine makes of addresses.
		"--enable-aggregator-routing=" + strconv.FormatBool(!p.unrouted),
		// What is wanted is what happens, not fairness.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--delete-collection-workers=1",
		"--profiling=false",
	}
	if p.cacheless {
		args = append(args, "--watch-cache=false")
	}
	if p.compaction != 0 {
		args = append(args, "--etcd-compaction-interval="+p.compaction.String())
	}
	if p.encrypted {
		written, err := p.encrypting()
		if err != nil {
			return err
		}
		args = append(args, written...)
	}
	if p.proxy != "" {
		written, err := p.proxying()
		if err != nil {
			return err
		}
		args = append(args, written...)
	}
	if p.audit {
		written, err := p.auditing()
		if err != nil {
			return err
		}
		args = append(args, written...)
	}
	if p.admission != "" {
		args = append(args, "--enable-admission-plugins="+p.admission)
	}
	if !slices.Contains(strings.Split(p.admission, ","), accounts) {
		args = append(args, "--disable-admission-plugins="+accounts)
	}
	if p.server, err = startChild(p.dir, "kube-apiserver", args...); err != nil {
		return err
	}
	return p.ready(ctx)
}

// startManager starts a controller manager. What it says of its start it says in its
// log: whoever relies on a controller waits for what it does. It takes no part in the election of a
// leader, which would keep its successor waiting: the lease that it would hold is put there for it.
func (p *plane) startManager(ctx context.Context, controllers string) (err error) {
	known := append(manager.KnownControllers(), "*")
	for name := range strings.SplitSeq(controllers, ",") {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no controller %q", name)
		}
	}
	args := []string{
		"--kubeconfig=" + p.access.manager,
		"--controllers=" + controllers,
		"--leader-elect=false",
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--secure-port=" + strconv.Itoa(p.debugPort), // 0 for none
		"--permit-port-sharing=true",                 // with the reservation
		"--bind-address=127.0.0.1",
		"--service-account-private-key-file=" + p.access.key,
		"--root-ca-file=" + p.access.ca,
		"--profiling=false",
	}
	if p.debug {
		args = append(args, "--cert-dir="+filepath.Join(p.dir, "manager-certificates"),
			"--authorization-always-allow-paths=/debug/controllers/*")
	}
	if p.manager, err = startChild(p.dir, "kube-controller-manager", args...); err != nil {
		return err
	}
	return p.lead(ctx)
}

// lead puts the lease of the controller manager there, unless a test has its own.
func (p *plane) lead(ctx context.Context) error {
	have, err := p.storage.Get(ctx, root+leaseKey)
	if err != nil || have.Count > 0 {
		return err
	}
	now := time.Now().UTC()
	p.leads = true
	return p.store(ctx, leaseKey, fmt.Appendf(nil, lease, uuid.NewUUID(), now.Format(time.RFC3339), now.Format("2006-01-02T15:04:05.000000Z")))
}

// giveUp takes that lease away.
func (p *plane) giveUp(ctx context.Context) error {
	if !p.leads {
		return nil
	}
	p.leads = false
	return p.wipe(ctx, leaseKey)
}

// leaseKey is where the lease of a controller manager is stored, and lease what says that one works
// for as long as a test may take.
const (
	leaseKey = "leases/kube-system/kube-controller-manager"
	lease    = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"kube-controller-manager","namespace":"kube-system","uid":%q,"creationTimestamp":%q},
		"spec":{"holderIdentity":"control-plane_1","leaseDurationSeconds":86400,"renewTime":%q}}`
)

// debugURL is where the controllers say something about themselves; empty when
// they do not.
func (p *plane) debugURL() string {
	if !p.debug {
		return ""
	}
	return fmt.Sprintf("https://127.0.0.1:%d/debug/controllers/", p.debugPort)
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

// recorded is what the API server writes down: every write, rehearsed ones too. Those of
// service accounts stand there before anything is done, and once more with what they
// asked for when it was answered; of everybody else only that they asked. Questions about
// rights are no writes, and Events tell nothing.
const recorded = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, verbs: [get, list, watch]}
- {level: None, resources: [{group: "", resources: [events]}, {group: events.k8s.io}, {group: coordination.k8s.io}, {group: authorization.k8s.io}, {group: authentication.k8s.io}]}
- {level: Request, userGroups: [system:serviceaccounts]}
- {level: Metadata, omitStages: [RequestReceived]}
`

// auditing are the arguments with which the API server keeps its record, in one file
// however long it gets.
func (p *plane) auditing() ([]string, error) {
	policy := filepath.Join(p.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(recorded), 0o600); err != nil {
		return nil, err
	}
	return []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(p.dir, "audit.log"),
		"--audit-log-mode=blocking-strict", "--audit-log-maxsize=100000",
	}, nil
}

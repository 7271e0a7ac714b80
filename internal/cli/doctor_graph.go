package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/doctor"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// beliefs is the source of the graph in the cluster's collector.
type beliefs struct {
	from      string
	tokenFile string
	caFile    string
	// at is the URL; nil for a file.
	at *url.URL
}

func (b *beliefs) addFlags(f *pflag.FlagSet) {
	f.StringVar(&b.from, "graph", "",
		"What the garbage collector itself believes: a file with what its debug endpoint wrote, - for standard input, or the URL of the endpoint.")
	f.StringVar(&b.tokenFile, "graph-token-file", "", "With a URL of --graph: send the bearer token in this file.")
	f.StringVar(&b.caFile, "graph-ca-file", "",
		"With a URL of --graph: the certificates to verify it by. Without them a certificate on this machine's loopback is not verified.")
}

func (b *beliefs) check(c *cobra.Command) error {
	if strings.HasPrefix(b.from, "http://") || strings.HasPrefix(b.from, "https://") {
		u, err := url.Parse(b.from)
		if err != nil || u.Host == "" || u.User != nil { // it may hold a password, so it is not printed
			return usage.Errorf(c, "--graph: not a URL that can be asked; there may be no user in it, give a token with --graph-token-file")
		}
		b.at = u
		return nil
	}
	if b.tokenFile != "" || b.caFile != "" {
		return usage.Errorf(c, "--graph-token-file and --graph-ca-file go with a URL of --graph")
	}
	return nil
}

// first reads the graph before the snapshot is taken; nil without --graph.
func (b *beliefs) first(ctx context.Context, client *kube.Client, in io.Reader, live bool) (*doctor.Belief, error) {
	if b.from == "" {
		return nil, nil //nolint:nilnil // no graph is no mistake
	}
	g, err := b.read(ctx, client, in)
	if err != nil {
		return nil, err
	}
	return &doctor.Belief{Read: []*doctor.DebugGraph{g}, From: b.from, Live: live && b.at != nil}, nil
}

// again reads the graph of a running collector once more.
func (b *beliefs) again(ctx context.Context, client *kube.Client, have *doctor.Belief) (*doctor.Belief, error) {
	if !have.Live {
		return have, nil
	}
	g, err := b.read(ctx, client, nil)
	if err != nil {
		return nil, err
	}
	have.Read = append(have.Read, g)
	return have, nil
}

func (b *beliefs) read(ctx context.Context, client *kube.Client, in io.Reader) (*doctor.DebugGraph, error) {
	text, err := b.open(ctx, client, in)
	if err != nil {
		return nil, fmt.Errorf("the garbage collector's graph: %w", err)
	}
	defer func() { _ = text.Close() }()
	g, err := doctor.ReadGraph(text)
	if err != nil {
		return nil, fmt.Errorf("the garbage collector's graph: %s: %w", b.from, err)
	}
	return g, nil
}

func (b *beliefs) open(ctx context.Context, client *kube.Client, in io.Reader) (io.ReadCloser, error) {
	switch {
	case b.from == "-":
		return io.NopCloser(in), nil
	case b.at == nil:
		return os.Open(b.from)
	case client != nil && client.Serves(b.at):
		return client.Text(ctx, b.at)
	}
	return b.ask(ctx)
}

// slowest is the timeout of the endpoint for its graph.
const slowest = 5 * time.Minute

// ask reads from the endpoint directly. It follows no redirects, which would receive the token.
func (b *beliefs) ask(ctx context.Context) (io.ReadCloser, error) {
	config, err := b.trust()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if b.tokenFile != "" {
		token, err := os.ReadFile(b.tokenFile)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	client := &http.Client{
		Timeout:       slowest,
		Transport:     &http.Transport{TLSClientConfig: config, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, refusalOf(b.from, answer.StatusCode)
	}
	return answer.Body, nil
}

// trust returns how to verify the certificate of the endpoint. By default kube-controller-manager
// has a self-signed one, which can't be verified. It is accepted on loopback, as behind a forwarded
// port.
func (b *beliefs) trust() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if b.caFile == "" {
		config.InsecureSkipVerify = loopback(b.at.Hostname())
		return config, nil
	}
	pem, err := os.ReadFile(b.caFile)
	if err != nil {
		return nil, err
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New(b.caFile + ": no certificate in it")
	}
	return config, nil
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.Unmap().IsLoopback()
}

// refusalOf explains a failed request for the graph.
func refusalOf(from string, status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: refused (%d): give a token with --graph-token-file; `kubectl gc rbac --for doctor` prints the permissions it needs", from, status)
	case http.StatusNotFound:
		return fmt.Errorf("%s: not found: the path ends in /debug/controllers/garbage-collector-controller/graph, and only the replica that holds the lease answers", from)
	default:
		return fmt.Errorf("%s: answered %d %s", from, status, http.StatusText(status))
	}
}

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
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// defaultPatience exceeds the collector's longest retry delay of 1000 s. (spec §3.1)
const defaultPatience = 20 * time.Minute

// doctorCommand is the command doctor.
type doctorCommand struct {
	streams        genericiooptions.IOStreams
	source         command.Source
	output         command.Output
	graph          graphSource
	before         []string
	beforeAt       string
	collectorDelay time.Duration
}

func newDoctor(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := &doctorCommand{streams: streams, source: command.NewSource(config)}
	c := &cobra.Command{
		Use:   "doctor [--from DUMP] [--graph FILE|URL|-]",
		Short: "Say whether the cluster's own garbage collector works",
		Long: text(`
			Say whether the cluster's own garbage collector works: Working, NotWorking, NoProblemFound or
			Unknown, and why.

			It looks for garbage that is still there, for foreground deletes and orphanings
			without progress, for kinds that the garbage collector cannot see, and on a cluster at the
			lease and the command line of kube-controller-manager. With --graph it reads what
			the garbage collector itself believes, from its debug endpoint, and says what differs.

			Nothing records since when an object is garbage. Unless something proves it, as
			an earlier dump does (--before), garbage leaves the verdict Unknown. Exits with 3
			when there is an error.`),
		Example: templates.Examples(`
			# A dump that does not say when it was taken
			kubectl gc doctor --from examples/garbage.yaml --at 2026-04-01T12:00:00Z

			# A cluster, and what its collector believes, through kubectl port-forward
			kubectl gc doctor --graph https://127.0.0.1:10257/debug/controllers/garbage-collector-controller/graph --graph-token-file token`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return d.run(c) },
	}
	f := c.Flags()
	d.source.AddFlags(f)
	d.output.AddFlags(f)
	d.output.AddSortFlag(f)
	d.graph.addFlags(f)
	f.StringArrayVar(&d.before, "before", nil, "An earlier dump of the same cluster: what it shows as left behind has been so since then. Repeat it to read several as one.")
	d.source.AddAtFlag(f)
	f.StringVar(&d.beforeAt, "before-at", "", "When the dump of --before was taken, if it does not say so itself.")
	f.DurationVar(&d.collectorDelay, "patience", defaultPatience, "How long the garbage collector may leave work undone.")
	d.output.AddCompleteFlag(f, "Exit with 4 when not everything could be looked at.")
	command.Unlist(f, "before-at", "require-complete", "graph-ca-file", "graph-token-file")
	return c
}

func (d *doctorCommand) run(c *cobra.Command) error {
	if err := d.check(c); err != nil {
		return err
	}
	checkup, err := d.examine(c)
	if err != nil {
		return err
	}
	if err := d.output.Show(c, d.streams.Out, checkup, command.As(render.CheckupText, checkup)); err != nil {
		return err
	}
	return d.output.Verdict(checkup.Summary.Errors > 0, checkup.Complete)
}

func (d *doctorCommand) check(c *cobra.Command) error {
	inputs := slices.Concat(d.source.From, d.before, []string{d.graph.from})
	files := slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return name == "-" })
	switch {
	case d.collectorDelay < 0:
		return command.Errorf(c, "--patience=%s: must not be negative", d.collectorDelay)
	case d.beforeAt != "" && len(d.before) == 0:
		return command.Errorf(c, "--before-at requires --before")
	case len(inputs)-len(files) > 1:
		return command.Errorf(c, "only one of --from, --before and --graph can be standard input")
	}
	if err := d.source.CheckAt(c); err != nil {
		return err
	}
	if _, err := command.SecondsOf(d.beforeAt); err != nil {
		return command.Errorf(c, "--before-at: %w", err)
	}
	return d.graph.check(c)
}

// examine reads all input and judges it. It reads the graph of a running collector before and after
// the snapshot, so that a change in between is not reported as a difference.
func (d *doctorCommand) examine(c *cobra.Command) (*report.Checkup, error) {
	ctx := c.Context()
	o := diagnose.CheckupOptions{Patience: int64(d.collectorDelay / time.Second)}
	live := d.source.Live()
	var client *kube.Client
	if live {
		var err error
		if client, err = d.source.Open(c, nil); err != nil {
			return nil, err
		}
		defer client.Close()
	}
	graph, err := d.graph.first(ctx, client, d.streams.In, live)
	if err != nil {
		return nil, err
	}
	d.source.Evidence = true
	w, err := d.source.ReadOpened(c, d.streams, client, nil)
	if err != nil {
		return nil, err
	}
	if graph != nil {
		if o.Graph, err = d.graph.again(ctx, client, graph); err != nil {
			return nil, err
		}
	}
	if o.At, err = command.SecondsOf(w.Source.TakenAt); err != nil {
		return nil, err
	}
	if err := d.readEarlier(c, &o); err != nil {
		return nil, err
	}
	if live {
		o.Lease, o.Manager = leaseOf(ctx, client), managersOf(ctx, client)
	}
	defer command.BeginStage(c, d.streams.ErrOut, "examining the garbage collector").End()
	return examined(ctx, w, o)
}

// examined judges the collector, and does not blame it for refusals by webhooks. On a cluster,
// webhooks are read only for objects that the collector has left undone.
func examined(ctx context.Context, w command.World, o diagnose.CheckupOptions) (*report.Checkup, error) {
	var reach kube.Reach
	if w.Client != nil {
		found, err := diagnose.Examine(ctx, w.Snapshot, o)
		if err != nil {
			return nil, err
		}
		for i := range found.Findings {
			f := found.Findings[i].Object
			if left := w.Find(f.APIVersion, f.Kind, f.Namespace, f.Name); left != nil {
				reach.Written = append(reach.Written, left)
			}
		}
		if len(reach.Written) == 0 {
			return found, nil
		}
	}
	var err error
	if o.Health, err = w.Assess(ctx, reach); err != nil {
		return nil, err
	}
	return diagnose.Examine(ctx, w.Snapshot, o)
}

// readEarlier reads the earlier dump, if there is one.
func (d *doctorCommand) readEarlier(c *cobra.Command, o *diagnose.CheckupOptions) error {
	if len(d.before) == 0 {
		return nil
	}
	earlier := command.Source{From: d.before, AllowPartial: d.source.AllowPartial, At: d.beforeAt}
	w, err := earlier.ReadDump(c, d.streams)
	if err != nil {
		return err
	}
	o.Earlier = w.Snapshot
	o.EarlierAt, err = command.SecondsOf(o.Earlier.Source.TakenAt)
	return err
}

// leaseOf reads the lease of kube-controller-manager. An unreadable lease is a result, too.
func leaseOf(ctx context.Context, client *kube.Client) *diagnose.Lease {
	l, err := client.Lease(ctx, object.ManagerLease.Namespace, object.ManagerLease.Name)
	switch {
	case apierrors.IsNotFound(err):
		return &diagnose.Lease{State: diagnose.LeaseNotThere}
	case err != nil:
		return &diagnose.Lease{State: diagnose.LeaseNotRead, Why: err.Error()}
	case l.Renewed.IsZero() || l.Read.IsZero():
		return &diagnose.Lease{State: diagnose.LeaseNotRead, Why: "it does not say when it was renewed"}
	}
	return &diagnose.Lease{
		Holder: l.Holder, Renewed: l.Renewed.Unix(), Read: l.Read.Unix(), Duration: int64(l.Duration / time.Second),
	}
}

// managersOf reads the command lines of controller managers that run in pods. The result is empty
// if there are none or they can't be read.
func managersOf(ctx context.Context, client *kube.Client) []diagnose.Process {
	lines, err := client.CommandLines(ctx, object.ManagerLease.Namespace, "component=kube-controller-manager")
	if err != nil {
		return nil
	}
	return object.Mapped(lines, func(l kube.CommandLine) diagnose.Process {
		return diagnose.Process{Pod: l.Pod, Args: l.Args}
	})
}

// graphSource is the source of the graph in the cluster's collector.
type graphSource struct {
	from      string
	tokenFile string
	caFile    string
	// at is the URL; nil for a file.
	at         *url.URL
	connection report.Connection
}

func (b *graphSource) addFlags(f *pflag.FlagSet) {
	f.StringVar(&b.from, "graph", "",
		"What the garbage collector itself believes: a file with what its debug endpoint wrote, - for standard input, or the URL of the endpoint.")
	f.StringVar(&b.tokenFile, "graph-token-file", "", "With a URL of --graph: send the bearer token in this file.")
	f.StringVar(&b.caFile, "graph-ca-file", "",
		"With a URL of --graph: the certificates to verify it by. Without them a certificate on this machine's loopback is not verified.")
}

func (b *graphSource) check(c *cobra.Command) error {
	if strings.HasPrefix(b.from, "http://") || strings.HasPrefix(b.from, "https://") {
		u, err := url.Parse(b.from)
		if err != nil || u.Host == "" || u.User != nil { // it may hold a password, so it is not printed
			return command.Errorf(c, "--graph: not a URL that can be asked; there may be no user in it, give a token with --graph-token-file")
		}
		b.at, b.connection = u, command.Connection(c)
		return nil
	}
	if b.tokenFile != "" || b.caFile != "" {
		return command.Errorf(c, "--graph-token-file and --graph-ca-file go with a URL of --graph")
	}
	return nil
}

// first reads the graph before the snapshot is taken; nil without --graph.
func (b *graphSource) first(ctx context.Context, client *kube.Client, in io.Reader, live bool) (*diagnose.CollectorGraph, error) {
	if b.from == "" {
		return nil, nil //nolint:nilnil // no graph is no mistake
	}
	g, err := b.read(ctx, client, in)
	if err != nil {
		return nil, err
	}
	return &diagnose.CollectorGraph{Read: []*report.Graph{g}, From: b.from, Live: live && b.at != nil}, nil
}

// again reads the graph of a running collector once more.
func (b *graphSource) again(ctx context.Context, client *kube.Client, have *diagnose.CollectorGraph) (*diagnose.CollectorGraph, error) {
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

func (b *graphSource) read(ctx context.Context, client *kube.Client, in io.Reader) (*report.Graph, error) {
	text, err := b.open(ctx, client, in)
	if err != nil {
		return nil, fmt.Errorf("the garbage collector's graph: %w", err)
	}
	defer func() { _ = text.Close() }()
	g, err := diagnose.ReadDebugGraph(text)
	if err != nil {
		return nil, fmt.Errorf("the garbage collector's graph: %s: %w", b.from, err)
	}
	return g, nil
}

func (b *graphSource) open(ctx context.Context, client *kube.Client, in io.Reader) (io.ReadCloser, error) {
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
func (b *graphSource) ask(ctx context.Context) (io.ReadCloser, error) {
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
		return nil, b.refusal(answer.StatusCode)
	}
	return answer.Body, nil
}

// trust returns how to verify the certificate of the endpoint. By default kube-controller-manager
// has a self-signed one, which can't be verified. It is accepted on loopback, as behind a forwarded
// port.
func (b *graphSource) trust() (*tls.Config, error) {
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

// refusal explains a failed request for the graph.
func (b *graphSource) refusal(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: refused (%d): give a token with --graph-token-file; %s prints the permissions it needs", b.from, status, b.connection.Text("`kubectl gc rbac --for doctor`"))
	case http.StatusNotFound:
		return fmt.Errorf("%s: not found: the path ends in /debug/controllers/garbage-collector-controller/graph, and only the replica that holds the lease answers", b.from)
	default:
		return fmt.Errorf("%s: answered %d %s", b.from, status, http.StatusText(status))
	}
}

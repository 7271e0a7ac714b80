package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/controller"
	"github.com/kubectl-gc/kubectl-gc/internal/deleters"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// The times of the lease, equal to those of the Kubernetes control plane.
const (
	leaseDuration = 15 * time.Second
	leaseRenew    = 10 * time.Second
	leaseRetry    = 2 * time.Second
	leaseName     = "kubectl-gc"
)

// mostWorkers is the maximum of --workers. No server processes as many requests concurrently.
const mostWorkers = 1000

// controllerCommand is the command controller.
type controllerCommand struct {
	streams        genericiooptions.IOStreams
	cluster        command.Cluster
	o              controller.Options
	rules, mode    string
	elect          bool
	leaseNamespace string
	check          bool
	allowed        []string
	verbosity      int
	preset         presetFlags
}

func newController(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &controllerCommand{streams: streams, cluster: command.Cluster{Config: config}}
	c := &cobra.Command{
		Use:   "controller",
		Short: "Collect garbage for as long as it runs, or tell what it would collect",
		Long: text(`
			Collect garbage for as long as it runs, or tell what it would collect.

			It watches the whole cluster. In the mode observe, the default, it sends no write
			about any object but events: what it would do is in its events, metrics and logs.
			In the mode enforce it does it.

			Strict rules, the default, delete only what is proven to be garbage. Upstream
			rules do what the garbage collector of Kubernetes does, for API servers that have none.

			Several replicas need --leader-elect. A replica that loses the lease ends.
			See docs/controller.md.

			--preset=envtest is for tests, of any language: see docs/gctest.md.`),
		Example: templates.Examples(`
			# What would be collected, and why?
			kubectl gc controller -v 2

			# The garbage collector of an API server that has none
			kubectl gc controller --rules upstream --mode enforce --leader-elect

			# All that deletes in a cluster, for tests against the API server of envtest
			kubectl gc controller --preset envtest --address 127.0.0.1:0`),
		Args:        command.NoArguments,
		Annotations: map[string]string{Live: "true"},
		RunE:        func(c *cobra.Command, _ []string) error { return k.run(c) },
	}
	k.addFlags(c.Flags())
	return c
}

func (k *controllerCommand) addFlags(f *pflag.FlagSet) {
	addRulesFlag(f, &k.rules)
	command.AddChoice(f, &k.mode, "mode", "observe", "observe tells what would be done, enforce does it.", "observe", "enforce")
	f.BoolVar(&k.elect, "leader-elect", false, "Have one of several replicas collect: the one that holds the lease kubectl-gc.")
	f.StringVar(&k.leaseNamespace, "leader-elect-namespace", "", "The namespace of the lease; by default the one of the context.")
	f.IntVar(&k.o.Workers, "workers", 20, "How many objects are judged at the same time.")
	k.cluster.AddRateFlags(f)
	f.Float32Var(&k.o.DeleteQPS, "delete-qps", 0, "Send no more than this many deletes a second; 0 for no limit of our own.")
	f.IntVar(&k.o.MaxDeletesPerMinute, "max-deletes-per-minute", 1000,
		"One delete more within a minute trips the safety limit: nothing is written until a person has looked; 0 for no such limit.")
	f.IntVar(&k.o.MaxGarbagePercent, "max-garbage-percent", 10,
		"Under strict rules: more than this share of all objects becoming garbage within a minute trips the safety limit, before any of them is deleted; 0 for no such limit.")
	f.DurationVar(&k.o.SyncPeriod, "sync-period", 30*time.Second, "How often to ask which kinds there are.")
	f.DurationVar(&k.o.AbsentGracePeriod, "absent-owner-grace-period", 40*time.Second, "Under strict rules: how long an owner has to stay absent before that counts.")
	f.StringSliceVar(&k.allowed, "unlock", nil, "Delete objects of this kind although it is protected.")
	_ = f.SetAnnotation("unlock", unlocksOf, apply.ProtectedKindNames()) // the flag was just added
	f.BoolVar(&k.check, "check-collector", true,
		"Before upstream rules are enforced, see for two sync periods whether another collector is at work, and if so, end.")
	k.preset.addFlags(f)
	f.StringVar(&k.o.Address, "address", "127.0.0.1:8080", "Where to answer /healthz, /readyz, /metrics and /debug/graph; empty for nowhere.")
	f.IntVarP(&k.verbosity, "v", "v", 0, "What to log: 2 for each request, 4 for each decision.")
}

// addRulesFlag adds --rules, which selects when an owner counts as absent.
func addRulesFlag(f *pflag.FlagSet, rules *string) {
	command.AddChoice(f, rules, "rules", "strict", "The rules of absence: strict or upstream.", "strict", "upstream")
}

func (k *controllerCommand) run(c *cobra.Command) error {
	if err := k.preset.check(c); err != nil {
		return err
	}
	if k.preset.preset == presetEnvtest {
		return k.runPreset(c)
	}
	if err := k.parse(c); err != nil {
		return err
	}
	config, err := k.cluster.Config.ToRESTConfig()
	if err != nil {
		return err
	}
	k.o.Config = rest.CopyConfig(config)
	k.o.Config.UserAgent = "kubectl-gc/" + command.Version() + " (" + c.CommandPath() + ")"
	namespace, _, err := k.cluster.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	namespace = cmp.Or(k.leaseNamespace, namespace)
	if k.elect {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		k.o.Lease = &controller.Lease{
			Namespace: namespace, Name: leaseName, Identity: host + "_" + string(uuid.NewUUID()),
			Duration: leaseDuration, Renew: leaseRenew, Retry: leaseRetry,
		}
	}
	if k.check && k.o.Rules == engine.Upstream {
		k.o.CheckFor, k.o.CheckNamespace = 2*k.o.SyncPeriod, namespace
	}
	k.o.Connect = func(wrap func(http.RoundTripper) http.RoundTripper) (*kube.Client, error) {
		return command.Connect(wrapped{k.cluster.Config, wrap}, kube.Options{
			Version: command.Version(), Command: c.CommandPath(), QPS: k.cluster.Qps, Burst: k.cluster.Burst,
		})
	}
	return controller.Run(c.Context(), k.o)
}

// parse converts the flags to options.
func (k *controllerCommand) parse(c *cobra.Command) error {
	if k.rules == "strict" {
		k.o.Rules = engine.Strict
	}
	k.o.Enforce = k.mode == "enforce"
	for _, b := range []struct {
		flag string
		bad  bool
	}{
		{"workers", k.o.Workers < 1 || k.o.Workers > mostWorkers}, {"qps", !command.IsRate(k.cluster.Qps)}, {"delete-qps", !command.IsRate(k.o.DeleteQPS)},
		{"max-deletes-per-minute", k.o.MaxDeletesPerMinute < 0}, {"max-garbage-percent", k.o.MaxGarbagePercent < 0 || k.o.MaxGarbagePercent > 100},
		{"absent-owner-grace-period", k.o.AbsentGracePeriod < 0}, {"sync-period", k.o.SyncPeriod <= 0},
	} {
		if b.bad {
			return command.Errorf(c, "--%s=%s: is too small or too large", b.flag, c.Flag(b.flag).Value)
		}
	}
	var err error
	if k.o.Allow, err = apply.ParseProtectedKinds(k.allowed); err != nil {
		return command.Errorf(c, "--unlock: %w", err)
	}
	if !k.cluster.Known() {
		return command.Errorf(c, "no cluster: give one with --kubeconfig, --server or $KUBECONFIG")
	}
	k.o.Log = k.logger()
	return nil
}

// logger returns a logger to stderr. The Kubernetes libraries use it, too.
func (k *controllerCommand) logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case k.verbosity >= 4:
		level = controller.LevelDecisions
	case k.verbosity >= 2:
		level = controller.LevelRequests
	}
	log := slog.New(slog.NewTextHandler(k.streams.ErrOut, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(log)
	return log
}

// wrapped is a client configuration with a wrapped transport.
type wrapped struct {
	genericclioptions.RESTClientGetter
	wrap func(http.RoundTripper) http.RoundTripper
}

// ToRESTConfig returns the configuration with the wrapper.
func (w wrapped) ToRESTConfig() (*rest.Config, error) {
	config, err := w.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Wrap(w.wrap)
	return config, nil
}

// The values of --preset and --pods.
const (
	presetNone    = "none"
	presetEnvtest = "envtest"
	podsAtOnce    = "at-once"
	podsAfter     = "after-grace-period"
	podsNever     = "never"
)

// presetFlags are the flags of a collector for tests.
type presetFlags struct {
	preset, pods string
	protection   bool
	inUse        bool
}

func (p *presetFlags) addFlags(f *pflag.FlagSet) {
	command.AddChoice(f, &p.preset, "preset", presetNone,
		"envtest is all that deletes in a cluster, for tests against an API server that has none: it says ready, and answers /settled.", presetNone, presetEnvtest)
	command.AddChoice(f, &p.pods, "pods", podsAtOnce, "With --preset=envtest: when pods end that are deleted, for there is no kubelet.", podsAtOnce, podsAfter, podsNever)
	f.BoolVar(&p.protection, "claim-protection", false, "With --preset=envtest: take the finalizers off that protect PVCs and PVs in use, when they are not.")
	f.BoolVar(&p.inUse, "cluster-in-use", false, "With --preset=envtest: start also where kube-controller-manager or a kubelet works, and leave to them what they do.")
	command.Unlist(f, "cluster-in-use")
}

// besidePreset are the flags that may be combined with --preset.
var besidePreset = map[string]bool{"preset": true, "pods": true, "claim-protection": true, "cluster-in-use": true, "address": true, "v": true}

// check refuses flags that conflict with the preset, or that need it.
func (p *presetFlags) check(c *cobra.Command) (err error) {
	if p.preset == presetNone {
		for _, name := range []string{"pods", "claim-protection", "cluster-in-use"} {
			if c.Flags().Changed(name) {
				return command.Errorf(c, "--%s needs --preset=envtest", name)
			}
		}
		return nil
	}
	c.LocalNonPersistentFlags().Visit(func(f *pflag.Flag) {
		if f.Changed && !besidePreset[f.Name] && err == nil {
			err = command.Errorf(c, "--%s: --preset=envtest says that itself", f.Name)
		}
	})
	return err
}

// startTimeout is how long a collector for tests waits for the API server.
const startTimeout = 30 * time.Second

// runPreset runs the collector for tests (--preset=envtest) until it is interrupted.
func (k *controllerCommand) runPreset(c *cobra.Command) error {
	if !k.cluster.Known() {
		return command.Errorf(c, "no cluster: give one with --kubeconfig, --server or $KUBECONFIG")
	}
	config, err := k.cluster.Config.ToRESTConfig()
	if err != nil {
		return err
	}
	pods := map[string]deleters.Pods{podsAtOnce: deleters.AtOnce, podsAfter: deleters.AfterGracePeriod, podsNever: deleters.Never}
	ctx, cancel := context.WithTimeout(c.Context(), startTimeout)
	defer cancel()
	o := deleters.Options{Command: c.CommandPath(), Pods: pods[k.preset.pods], Protection: k.preset.protection, AskProtection: "--claim-protection", InUse: k.preset.inUse, AskInUse: "--cluster-in-use"}
	if k.verbosity > 0 {
		log := k.logger()
		o.Log = func(line string) { log.Info(line) }
		o.Record = func(r engine.Record) { controller.LogDecision(log, r) }
	}
	d, err := deleters.Start(ctx, config, o)
	if err != nil {
		return err
	}
	remarks, err := d.Remarks()
	if err != nil {
		return errors.Join(err, d.Stop())
	}
	for _, remark := range remarks {
		_, _ = fmt.Fprintln(k.streams.ErrOut, remark)
	}
	return errors.Join(k.answer(c.Context(), d), d.Stop())
}

// answer prints "ready" and serves requests until the context ends.
func (k *controllerCommand) answer(ctx context.Context, d *deleters.Deleters) error {
	where := ""
	failed := make(chan error, 1)
	if k.o.Address != "" {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", k.o.Address)
		if err != nil {
			return fmt.Errorf("--address: %w", err)
		}
		server := &http.Server{Handler: d.Handler(), ReadHeaderTimeout: startTimeout}
		defer func() { _ = server.Close() }()
		go func() { failed <- server.Serve(listener) }()
		where = " http://" + listener.Addr().String()
	}
	if _, err := fmt.Fprintf(k.streams.Out, "ready%s\n", where); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	case <-d.Done():
		return nil
	}
}

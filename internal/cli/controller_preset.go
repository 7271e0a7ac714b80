package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/deleters"
)

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
	usage.AddChoice(f, &p.preset, "preset", presetNone,
		"envtest is all that deletes in a cluster, for tests against an API server that has none: it says ready, and answers /settled.", presetNone, presetEnvtest)
	usage.AddChoice(f, &p.pods, "pods", podsAtOnce, "With --preset=envtest: when pods end that are deleted, for there is no kubelet.", podsAtOnce, podsAfter, podsNever)
	f.BoolVar(&p.protection, "claim-protection", false, "With --preset=envtest: take the finalizers off that protect PVCs and PVs in use, when they are not.")
	f.BoolVar(&p.inUse, "cluster-in-use", false, "With --preset=envtest: start also where kube-controller-manager or a kubelet works, and leave to them what they do.")
	usage.Unlist(f, "pods", "claim-protection", "cluster-in-use")
}

// besidePreset are the flags that may be combined with --preset.
var besidePreset = map[string]bool{"preset": true, "pods": true, "claim-protection": true, "cluster-in-use": true, "address": true, "v": true}

// check refuses flags that the preset sets itself, or that need the preset.
func (p *presetFlags) check(c *cobra.Command) (err error) {
	if p.preset == presetNone {
		for _, name := range []string{"pods", "claim-protection", "cluster-in-use"} {
			if c.Flags().Changed(name) {
				return usage.Errorf(c, "--%s needs --preset=envtest", name)
			}
		}
		return nil
	}
	c.LocalNonPersistentFlags().Visit(func(f *pflag.Flag) {
		if f.Changed && !besidePreset[f.Name] && err == nil {
			err = usage.Errorf(c, "--%s: --preset=envtest says that itself", f.Name)
		}
	})
	return err
}

// startTimeout is how long a collector for tests waits for the API server.
const startTimeout = 30 * time.Second

// runPreset deletes everything due for deletion until it is interrupted.
func (k *controllerCommand) runPreset(c *cobra.Command) error {
	if !k.cluster.Known() {
		return usage.Errorf(c, "no cluster: give one with --kubeconfig, --server or $KUBECONFIG")
	}
	config, err := k.cluster.Config.ToRESTConfig()
	if err != nil {
		return err
	}
	pods := map[string]deleters.Pods{podsAtOnce: deleters.AtOnce, podsAfter: deleters.AfterGracePeriod, podsNever: deleters.Never}
	ctx, cancel := context.WithTimeout(c.Context(), startTimeout)
	defer cancel()
	d, err := deleters.Start(ctx, config, deleters.Options{Command: c.CommandPath(), Pods: pods[k.preset.pods], Protection: k.preset.protection, AskProtection: "--claim-protection", InUse: k.preset.inUse, AskInUse: "--cluster-in-use"})
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

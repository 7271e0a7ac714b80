package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
)

// deleteRequest are the options of a DELETE, from the flags of kubectl delete.
type deleteRequest struct {
	cascade string
	grace   int64
	now     bool
	force   bool
	// policy and period are the results of check. A nil period keeps the grace period of each pod.
	policy engine.Policy
	period *int64
}

// cascades maps the values of --cascade to propagation policies.
var cascades = map[string]engine.Policy{
	"background": engine.Background, "foreground": engine.ForegroundPolicy, "orphan": engine.OrphanPolicy,
}

func (r *deleteRequest) addFlags(f *pflag.FlagSet) {
	cascade := usage.AddChoice(f, &r.cascade, "cascade", "background", "The propagation policy: background, foreground or orphan.", "background", "foreground", "orphan")
	cascade.NoOptDefVal = "background"
	cascade.Value.(*usage.Choice).Old = []string{"true", "false"} // as kubectl, with its warning
	f.Int64Var(&r.grace, "grace-period", -1, "Seconds that pods get to end; negative for their own. Without --force 0 is 1.")
	f.BoolVar(&r.now, "now", false, "The same as --grace-period=1.")
	f.BoolVar(&r.force, "force", false, "A grace period of 0: pods vanish from the API while their containers may still run.")
}

// check validates the flags as kubectl does, with its warnings.
//
// Upstream: kubectl/pkg/cmd/delete/delete_flags.go parseCascadingFlag.
// Upstream: kubectl/pkg/cmd/delete/delete.go DeleteOptions.Complete, DeleteOptions.Validate.
func (r *deleteRequest) check(c *cobra.Command, errOut io.Writer) error {
	if instead, old := map[string]string{"true": "background", "false": "orphan"}[r.cascade]; old {
		fmt.Fprintf(errOut, "warning: --cascade=%s is deprecated (boolean value) and can be replaced with --cascade=%s.\n", r.cascade, instead)
		r.cascade = instead
	}
	r.policy = cascades[r.cascade]
	given := c.Flags().Changed("grace-period") && r.grace >= 0
	switch {
	case r.now && c.Flags().Changed("grace-period"):
		return usage.Errorf(c, "--now and --grace-period cannot be given together")
	case r.force && (r.now || given && r.grace > 0):
		return usage.Errorf(c, "--force and a grace period above 0 cannot be given together")
	case r.now || given && r.grace == 0 && !r.force:
		r.period = new(int64(1)) // 0 without --force is 1, as for kubectl
	case given:
		r.period = &r.grace
	case r.force:
		r.period = new(int64(0))
	}
	if r.force {
		fmt.Fprintln(errOut, "warning: --force does not wait until containers have stopped: a pod that is gone from the API may run on, and write to its volumes beside the pod that replaces it.")
	}
	return nil
}

// Package completion completes the words of a command line for the shell, from the dump of --from,
// else from the cluster.
package completion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Program is the prefix of the name that kubectl calls for the completion of a plugin. (kubectl,
// plugin_completion.go)
const Program = "kubectl_complete-"

// Args converts a completion call by kubectl to cobra's arguments. It returns false for any other
// call.
func Args(program string, typed []string) ([]string, bool) {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if !strings.HasPrefix(name, Program) {
		return nil, false
	}
	if len(typed) == 0 {
		typed = []string{""}
	}
	return append([]string{cobra.ShellCompRequestCmd}, typed...), true
}

// words completes words. With --from it reads only the dump, neither a kubeconfig nor a cluster.
type words struct {
	config *genericclioptions.ConfigFlags
}

// answerWithin is the timeout of a cluster for one completion.
const answerWithin = 5 * time.Second

// Register sets the completion of all commands and flags.
func Register(root *cobra.Command, config *genericclioptions.ConfigFlags) {
	w := &words{config: config}
	arguments := map[string]cobra.CompletionFunc{
		"delete":           w.objects,
		"dry-run delete":   w.objects,
		"explain":          w.oneObject,
		"graph":            w.oneObject,
		"lost":             w.objects,
		"remove-finalizer": w.finalizers,
		"stuck":            w.objects,
		"undo":             bundles,
	}
	eachCommand(root, func(c *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), root.CommandPath()), " ")
		if c.ValidArgsFunction = arguments[path]; c.ValidArgsFunction == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" {
				_ = c.RegisterFlagCompletionFunc(f.Name, w.flag(f)) // the flag exists and has no completion yet
			}
		})
	})
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}

// flag returns the completion of a flag's value.
func (w *words) flag(f *pflag.Flag) cobra.CompletionFunc {
	switch f.Name {
	case "from", "before", "to", "graph", "kubeconfig", "certificate-authority", "client-certificate", "client-key", "graph-token-file":
		return files
	case "filename":
		return cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt)
	case "kustomize", "dir", "backup-dir", "cache-dir":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "namespace", "namespaces", "leader-elect-namespace":
		return w.namespaces
	case "context", "cluster", "user":
		return w.named(inKubeconfig[f.Name])
	case "include", "exclude", "complete":
		return w.patterns
	case "output":
		return fixed(f.Annotations[output.FormatsOf]...)
	case "for":
		return fixed(texts(policy.Commands())...)
	case "fail-on":
		return fixed(failKeys()...)
	case "unlock":
		return fixed(slices.Concat(policy.KindNames(), []string{policy.UnlockHelm})...)
	}
	if few, ok := f.Value.(*usage.Choice); ok {
		return fixed(few.Known...)
	}
	return cobra.NoFileCompletions
}

// fixed completes one of some values. No space follows if only values ending in = match.
func fixed(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		found := offered(values, typed)
		if len(found) > 0 && !slices.ContainsFunc(found, func(v string) bool { return !strings.HasSuffix(v, "=") }) {
			return found, noFiles | cobra.ShellCompDirectiveNoSpace
		}
		return found, noFiles
	}
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// failKeys are the fixed values and prefixes of --fail-on.
func failKeys() []string {
	keys := []string{"depends-on-timing", "count=", "kind="}
	for _, o := range report.Outcomes() {
		keys = append(keys, strings.ToLower(string(o)))
	}
	return keys
}

// bundles completes a backup for undo: those in the default directory, newest first, else any
// directory.
func bundles(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	usual, err := writing.BackupDir("").Path()
	if err != nil || typed != "" && !strings.HasPrefix(typed, usual) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	entries, err := os.ReadDir(usual)
	if err != nil {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	slices.Reverse(entries) // the names start with the time
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, filepath.Join(usual, e.Name()))
		}
	}
	return offered(found, typed), noFiles | cobra.ShellCompDirectiveKeepOrder
}

// offered returns the candidates with the typed prefix. Candidates that a shell would have to quote
// are left out.
func offered(candidates []string, typed string) []string {
	var list []string
	for _, text := range candidates {
		if strings.HasPrefix(text, typed) && report.ShellWord(text) == text {
			list = append(list, text)
		}
	}
	return list
}

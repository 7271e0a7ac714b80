// Package completion completes the words of a command line, as the tab key asks for them:
// from the dump of --from, else from the cluster.
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

// Program is the start of the name under which kubectl calls a plugin to complete
// a command line. (kubectl, plugin_completion.go)
const Program = "kubectl_complete-"

// Args are the arguments of a call by kubectl that wants words completed.
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

// words completes words: from the dump of --from if there is one, and then neither a
// kubeconfig nor a cluster is looked at; else from the cluster.
type words struct {
	config *genericclioptions.ConfigFlags
}

// answerWithin is how long a cluster may take to complete a word.
const answerWithin = 5 * time.Second

// Register says of every command and flag which words can stand there.
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
				_ = c.RegisterFlagCompletionFunc(f.Name, w.flag(f)) // it exists, and has none yet
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

// flag completes the value of a flag.
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

// fixed completes one of some values. What ends in a sign wants to be continued.
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

// failKeys are what --fail-on takes, as far as it is fixed.
func failKeys() []string {
	keys := []string{"depends-on-timing", "count=", "kind="}
	for _, o := range report.Outcomes() {
		keys = append(keys, strings.ToLower(string(o)))
	}
	return keys
}

// bundles completes the backup that undo is about: those where backups usually are,
// the newest first, else a directory.
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
	slices.Reverse(entries) // their names start with the time
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, filepath.Join(usual, e.Name()))
		}
	}
	return offered(found, typed), noFiles | cobra.ShellCompDirectiveKeepOrder
}

// offered are the candidates that continue what was typed and mean themselves to
// every shell: a name that a shell would read as something else is not offered.
func offered(candidates []string, typed string) []string {
	var list []string
	for _, text := range candidates {
		if strings.HasPrefix(text, typed) && report.ShellWord(text) == text {
			list = append(list, text)
		}
	}
	return list
}

package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// completionProgram is the prefix of the name that kubectl calls for the completion of a plugin. (kubectl,
// plugin_completion.go)
const completionProgram = "kubectl_complete-"

// completionArgs converts a completion call by kubectl to cobra's arguments. It returns false for any other
// call.
func completionArgs(program string, typed []string) ([]string, bool) {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if !strings.HasPrefix(name, completionProgram) {
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

// registerCompletions sets the completion of all commands and flags.
func registerCompletions(root *cobra.Command, config *genericclioptions.ConfigFlags) {
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
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case "filename":
		return cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt)
	case "kustomize", "dir", "backup-dir", "cache-dir":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "namespace", "namespaces", "leader-elect-namespace":
		return w.namespaces
	case "context", "cluster", "user":
		return w.named(inKubeconfig[f.Name])
	case "include", "exclude", "complete":
		return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return w.objects(c, nil, typed)
		}
	case "output":
		return fixed(f.Annotations[command.FormatsOf]...)
	case "for":
		return fixed(object.Mapped(rbacCommands(), func(c rbacCommand) string { return string(c) })...)
	case "fail-on":
		keys := []string{"depends-on-timing", "count=", "kind="}
		for _, o := range report.Outcomes() {
			keys = append(keys, strings.ToLower(string(o)))
		}
		return fixed(keys...)
	case "unlock":
		return fixed(f.Annotations[unlocksOf]...)
	}
	if few, ok := f.Value.(*command.Choice); ok {
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

// bundles completes a backup for undo: those in the default directory, newest first, else any
// directory.
func bundles(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	usual, err := backupDir("").Path()
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
	list := object.Filtered(candidates, func(text string) bool {
		return strings.HasPrefix(text, typed) && report.ShellWord(text) == text
	})
	return list
}

// noFiles tells the shell that file names are no candidates.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// objects completes TYPE NAME… and TYPE/NAME….
func (w *words) objects(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return w.from(c, func(q query) ([]string, cobra.ShellCompDirective) { return q.objects(args, typed) })
}

// oneObject completes TYPE NAME or TYPE/NAME.
func (w *words) oneObject(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/") {
		return nil, noFiles
	}
	return w.objects(c, args, typed)
}

// objects completes the forms of kubectl's arguments.
func (q query) objects(args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, name, slashed := strings.Cut(typed, "/")
	switch {
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		return offered(without(q.namesOf(args[0], typed), args[1:]), typed), noFiles
	case slashed:
		return offered(without(prefixed(kind+"/", q.namesOf(kind, name)), args), typed), noFiles
	case len(args) > 0:
		return offered(withSlash(q.typesOf(typed)), typed), noFiles | cobra.ShellCompDirectiveNoSpace
	}
	before := listBefore(typed)
	return offered(prefixed(before, q.typesOf(strings.TrimPrefix(typed, before))), typed), noFiles
}

// listBefore returns the part before the last element of a list: "a,b," of "a,b,c".
func listBefore(typed string) string { return typed[:strings.LastIndex(typed, ",")+1] }

func without(list, taken []string) []string {
	return slices.DeleteFunc(list, func(text string) bool { return slices.Contains(taken, text) })
}

func prefixed(start string, list []string) []string {
	for i := range list {
		list[i] = start + list[i]
	}
	return list
}

func withSlash(list []string) []string {
	for i := range list {
		list[i] += "/"
	}
	return list
}

func startingWith(list []string, start string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !strings.HasPrefix(text, start) })
}

// typesOf returns the types that start with typed: plurals of types with objects; if there are
// none, their short names; else plurals of all types. An ambiguous plural includes its group.
func (q query) typesOf(typed string) []string {
	known := q.types
	var held, short, all []string
	for _, r := range known.Sorted() {
		if p, ok := known.Preferred(r.GroupResource()); !ok || !r.Served() || p.APIVersion() != r.APIVersion() {
			continue
		}
		text := r.Name
		if found, ok := known.Find(text); !ok || found.GroupResource() != r.GroupResource() {
			text = r.GroupResource().String()
		}
		holds := known.Holds(r)
		switch starts := strings.HasPrefix(text, typed); {
		case starts && holds:
			held = append(held, text)
		case starts:
			all = append(all, text)
		case holds:
			short = append(short, startingWith(append(slices.Clone(r.ShortNames), r.Singular), typed)...)
		}
	}
	for _, list := range [][]string{held, short, all} {
		if len(list) > 0 {
			slices.Sort(list)
			return slices.Compact(list)
		}
	}
	return nil
}

// namesOf returns the names of a type's objects in the namespace.
func (q query) namesOf(kind, typed string) []string {
	r, ok := q.types.Find(kind)
	switch {
	case ok:
		return q.names(r, q.namespace, typed)
	case kind == helmType:
		return q.releases(typed)
	}
	return nil
}

// releases returns the names of the releases of Helm in the namespace, by those of their records.
func (q query) releases(typed string) []string {
	var list []string
	for _, kind := range []object.Kind{object.Secret, object.ConfigMap} {
		for _, name := range q.names(kind.Resource(), q.namespace, object.HelmRecordPrefix+typed) {
			name = strings.TrimPrefix(name, object.HelmRecordPrefix)
			if i := strings.LastIndex(name, ".v"); i > 0 {
				list = append(list, name[:i])
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// object returns one object; nil if it can't be read.
func (q query) object(kind, name string) *object.Object {
	r, ok := q.types.Find(kind)
	if !ok {
		return nil
	}
	ref := object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: name}
	if r.Namespaced {
		ref.Namespace = q.namespace
	}
	return q.find(ref)
}

// finalizers completes the arguments of remove-finalizer: an object, then its finalizers.
func (w *words) finalizers(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	many := c.Flags().Changed("selector") || c.Flags().Changed("all-of-kind")
	return w.from(c, func(q query) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0 && !many && !strings.Contains(typed, "/"):
			return offered(withSlash(q.typesOf(typed)), typed), noFiles | cobra.ShellCompDirectiveNoSpace
		case len(args) == 0:
			return q.objects(nil, typed)
		}
		kind, name, _ := strings.Cut(args[0], "/")
		o := q.object(kind, name)
		if o == nil {
			return nil, noFiles
		}
		return offered(without(slices.Clone(o.Finalizers()), args[1:]), typed), noFiles
	})
}

// namespaces completes the last namespace of a list.
func (w *words) namespaces(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return w.from(c, func(q query) ([]string, cobra.ShellCompDirective) {
		before := listBefore(typed)
		last := strings.TrimPrefix(typed, before)
		names := q.namesOf("namespaces", last)
		if len(names) == 0 && q.dump != nil { // without permission to list them, those of a cluster must be typed
			found := object.SetOf(q.dump.Objects, func(o *object.Object) string { return o.Namespace })
			delete(found, "")
			names = startingWith(slices.Sorted(maps.Keys(found)), last)
		}
		return offered(prefixed(before, names), typed), noFiles
	})
}

// named completes a name from the kubeconfig: a context, cluster or user.
func (w *words) named(names func(*api.Config) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if c.Flags().Changed("from") {
			return nil, noFiles
		}
		config, err := w.config.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, noFiles
		}
		return offered(names(&config), typed), noFiles
	}
}

// inKubeconfig returns the names in a kubeconfig by flag.
var inKubeconfig = map[string]func(*api.Config) []string{
	"context": func(k *api.Config) []string { return slices.Sorted(maps.Keys(k.Contexts)) },
	"cluster": func(k *api.Config) []string { return slices.Sorted(maps.Keys(k.Clusters)) },
	"user":    func(k *api.Config) []string { return slices.Sorted(maps.Keys(k.AuthInfos)) },
}

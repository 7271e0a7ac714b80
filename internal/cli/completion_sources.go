package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// query is the context of a completion: a dump or a cluster, and a namespace. Errors lead to no
// completions.
type query struct {
	types typesOfTargets
	// namespace is that of -n, else that of the context. It counts for namespaced types only.
	namespace string
	// names returns the names of a type's objects that start with prefix.
	names func(r object.Resource, namespace, prefix string) []string
	// find returns one object; nil if it can't be read.
	find func(ref object.Ref) *object.Object
	// dump is nil for a cluster.
	dump *snapshot.Snapshot
}

// from completes a word from the dump of --from, else from the cluster.
func (w *words) from(c *cobra.Command, find func(query) ([]string, cobra.ShellCompDirective)) ([]string, cobra.ShellCompDirective) {
	namespace := ""
	if f := c.Flag("namespace"); f != nil {
		namespace = f.Value.String()
	}
	if from, err := c.Flags().GetStringArray("from"); err == nil && len(from) > 0 {
		return fromDump(c, from, namespace, find)
	}
	if !c.Flags().Changed("request-timeout") {
		limit := answerWithin.String()
		w.config.Timeout = &limit
	}
	client, err := (&command.Cluster{Config: w.config}).Connect(c)
	if err != nil {
		return nil, noFiles
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(c.Context(), answerWithin)
	defer cancel()
	d, err := client.Discover(ctx)
	if err != nil {
		return nil, noFiles
	}
	usual, _, _ := w.config.ToRawKubeConfigLoader().Namespace() // Connect has already read it
	return find(query{
		types: typesOfTargets{d.Resources, d.Resources.Monitored}, namespace: cmp.Or(namespace, usual),
		names: func(r object.Resource, namespace, prefix string) []string {
			return listNames(ctx, client, r, namespace, prefix)
		},
		find: func(ref object.Ref) *object.Object {
			o, err := client.Get(ctx, ref)
			if err != nil {
				return nil
			}
			return o
		},
	})
}

// fromDump completes a word from a dump. It does not read standard input, which belongs to the
// command that is being typed.
func fromDump(c *cobra.Command, from []string, namespace string, find func(query) ([]string, cobra.ShellCompDirective)) ([]string, cobra.ShellCompDirective) {
	slices.Sort(from) // cobra has parsed the flags twice
	from = slices.Compact(from)
	if slices.Contains(from, "-") {
		return nil, noFiles
	}
	partial, _ := c.Flags().GetBool("allow-partial") // false without such a flag
	memory := command.NewMemory()
	defer memory.End()
	snap, err := snapshot.ReadFiles(from, snapshot.Options{AllowPartial: partial, Memory: memory.Room})
	if err != nil {
		return nil, noFiles
	}
	return find(query{
		types: typesIn(snap), namespace: cmp.Or(namespace, command.DefaultNamespace), dump: snap,
		names: func(r object.Resource, namespace, prefix string) []string {
			var names []string
			for _, o := range snap.OfType(r) {
				if (!r.Namespaced || o.Namespace == namespace) && strings.HasPrefix(o.Name, prefix) {
					names = append(names, o.Name)
				}
			}
			return slices.Compact(names)
		},
		find: func(ref object.Ref) *object.Object {
			return snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		},
	})
}

// listNames returns the names of a type's objects in a cluster. It reads only metadata.
func listNames(ctx context.Context, client *kube.Client, r object.Resource, namespace, prefix string) []string {
	at := kube.Place{Resource: r}
	if r.Namespaced {
		at.Namespace = namespace
	}
	var names []string
	_, err := client.List(ctx, at, kube.Selection{}, kube.Listing{
		Object: func(o *object.Object) error {
			if strings.HasPrefix(o.Name, prefix) {
				names = append(names, o.Name)
			}
			return nil
		},
		Restart: func() { names = nil },
	})
	if err != nil {
		return nil
	}
	slices.Sort(names)
	return names
}

package targets

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// naming is the source of completions: a dump or a cluster. Errors lead to no completions.
type naming interface {
	types() Types
	// names returns the names of a type's objects that start with prefix. The namespace counts for
	// namespaced types only.
	names(r object.Resource, namespace, prefix string) ([]string, error)
	find(r object.Resource, namespace, name string) (*object.Object, error)
	// inhabited returns the namespaces of the objects, for dumps without Namespace objects.
	inhabited() ([]string, error)
	// fallback returns the namespace to use if none is given.
	fallback() string
	close()
}

// naming returns the dump of --from, else the cluster; nil if neither can be read. It does not read
// standard input, which belongs to the command that is being typed.
func (w *words) naming(c *cobra.Command) naming {
	if from, err := c.Flags().GetStringArray("from"); err == nil && len(from) > 0 {
		slices.Sort(from) // cobra has parsed the flags twice
		from = slices.Compact(from)
		if slices.Contains(from, "-") {
			return nil
		}
		partial, _ := c.Flags().GetBool("allow-partial") // false without such a flag
		memory := source.NewMemory()
		defer memory.End()
		l, err := snapshot.ReadNames(from, snapshot.Options{AllowPartial: partial, Memory: memory.Room})
		if err != nil {
			return nil
		}
		return dumpNames{l}
	}
	if !c.Flags().Changed("request-timeout") {
		limit := answerWithin.String()
		w.config.Timeout = &limit
	}
	client, err := (&source.Cluster{Config: w.config}).Connect(c)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Context(), answerWithin)
	d, err := client.Discover(ctx)
	if err != nil {
		cancel()
		client.Close()
		return nil
	}
	namespace, _, _ := w.config.ToRawKubeConfigLoader().Namespace() // Connect has already read it
	return &clusterNames{ctx, cancel, client, d.Resources, namespace}
}

// dumpNames completes from a dump.
type dumpNames struct{ *snapshot.NameList }

func (d dumpNames) types() Types {
	return Types{Resources: d.Resources, Holds: d.Holds}
}

func (d dumpNames) names(r object.Resource, namespace, prefix string) ([]string, error) {
	return d.Names(r, namespace, prefix), nil
}

func (d dumpNames) find(r object.Resource, namespace, name string) (*object.Object, error) {
	return d.Find(r, namespace, name), nil
}

func (d dumpNames) inhabited() ([]string, error) { return d.Namespaces(), nil }

func (d dumpNames) fallback() string { return source.DefaultNamespace }

func (d dumpNames) close() {}

// clusterNames completes from a cluster. It reads only metadata.
type clusterNames struct {
	ctx       context.Context
	cancel    context.CancelFunc
	client    *kube.Client
	resources *object.Resources
	namespace string
}

func (k *clusterNames) types() Types {
	return Types{Resources: k.resources, Holds: func(r object.Resource) bool { return k.resources.Monitored(r) }}
}

func (k *clusterNames) names(r object.Resource, namespace, prefix string) ([]string, error) {
	at := kube.Place{Resource: r}
	if r.Namespaced {
		at.Namespace = namespace
	}
	var names []string
	_, err := k.client.List(k.ctx, at, kube.Selection{}, kube.Listing{
		Object: func(o *object.Object) error {
			if strings.HasPrefix(o.Name, prefix) {
				names = append(names, o.Name)
			}
			return nil
		},
		Restart: func() { names = nil },
	})
	slices.Sort(names)
	return names, err
}

func (k *clusterNames) find(r object.Resource, namespace, name string) (*object.Object, error) {
	ref := object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: name}
	if r.Namespaced {
		ref.Namespace = namespace
	}
	return k.client.Get(k.ctx, ref)
}

// inhabited returns nothing: without permission to list namespaces, they must be typed.
func (k *clusterNames) inhabited() ([]string, error) { return nil, nil }

func (k *clusterNames) fallback() string { return k.namespace }

func (k *clusterNames) close() {
	k.cancel()
	k.client.Close()
}

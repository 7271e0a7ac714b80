package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// many reports whether the flags select objects instead of naming them.
func (t *targets) many() bool { return t.Selector != "" || t.fields != "" || t.All }

// isLimitedToNamespace reports whether the user expects a destructive selection to be limited to a
// namespace.
func (t *targets) isLimitedToNamespace() bool {
	return t.Deletes && t.many() && t.Namespaces.One != "" && !t.Namespaces.All
}

// checkTypes refuses a selection of cluster-scoped types with -n. kubectl selects from the whole
// cluster then, and prints only a warning together with the deletes.
//
// Upstream: kubectl/pkg/cmd/delete/delete.go DeleteOptions.Complete, DeleteOptions.DeleteResult.
func (t *targets) checkTypes(c *cobra.Command, snap *snapshot.Snapshot, args []string) error {
	if !t.isLimitedToNamespace() {
		return nil
	}
	for arg := range strings.SplitSeq(args[0], ",") {
		if r, err := findResource(snap, arg); err == nil && !r.Namespaced {
			return t.clusterScoped(c, r.Name+" are")
		}
	}
	return nil
}

// checkFound refuses a selection with -n that has found cluster-scoped objects, as a category may.
// For named objects it warns, as kubectl does.
func (t *targets) checkFound(c *cobra.Command, refs []object.Ref) error {
	if !t.Deletes || t.Namespaces.One == "" || t.Namespaces.All {
		return nil
	}
	for _, ref := range refs {
		switch {
		case ref.Namespace != "":
		case t.many():
			return t.clusterScoped(c, ref.ShortName()+" is")
		case ref.Is(object.Namespace) && ref.Name == t.Namespaces.One:
		default:
			fmt.Fprintf(c.ErrOrStderr(), "warning: %s is cluster-scoped: -n %s does not apply to it\n",
				render.Escape(ref.ShortName()), render.Escape(t.Namespaces.One))
		}
	}
	return nil
}

// clusterScoped returns the error for a selection that -n does not limit.
func (t *targets) clusterScoped(c *cobra.Command, what string) error {
	flag := "--all"
	switch {
	case t.Selector != "":
		flag = "-l"
	case t.fields != "":
		flag = "--field-selector"
	case c.Flag("all-of-kind") != nil:
		flag = "--all-of-kind"
	}
	return command.Errorf(c, "%s cluster-scoped: -n %s does not limit %s to a namespace, it would select from the whole cluster; omit -n, or give names",
		what, t.Namespaces.One, flag)
}

// namespacesNamed returns the namespaces that the arguments name as objects, such as pay for
// `ns/pay`, and those of the other objects. The default namespace alone is left out, since it may
// not apply. Manifests on standard input are ignored.
func (t *targets) namespacesNamed(args []string) (named, others []string) {
	more := false
	add := func(isNamespace bool, name string) {
		if isNamespace {
			named = append(named, name)
		} else {
			more = true
		}
	}
	switch {
	case t.many():
		return nil, nil
	case !t.Files.Empty():
		named, others, more = t.Files.namespacesNamed()
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		for _, name := range args[1:] {
			add(isNamespaceType(args[0]), name)
		}
	default:
		for _, arg := range args {
			kind, name, _ := strings.Cut(arg, "/")
			add(isNamespaceType(kind), name)
		}
	}
	if more && len(named)+len(others) > 0 {
		others = append(others, t.Namespaces.OneOrDefault())
	}
	return named, others
}

// Unseen returns the namespace that is the only object named, if its content was read but the
// Namespace itself was not; else "".
func (t *targets) Unseen(w command.World, args []string) string {
	named, others := t.namespacesNamed(args)
	if len(named) != 1 || len(others) > 0 || w.Suppose(named[0]) == nil {
		return ""
	}
	return named[0]
}

// isNamespaceType reports whether the type of an argument is Namespace: ns, namespace, namespaces
// or namespaces.v1, in any case. No discovery is needed, since no other kind can have these names
// in the core group.
func isNamespaceType(kind string) bool {
	kind, version, _ := strings.Cut(strings.ToLower(kind), ".")
	return (kind == "ns" || kind == "namespace" || kind == "namespaces") && (version == "" || strings.TrimSuffix(version, ".") == "v1")
}

// judge answers a question about objects. If only a part of a cluster was read, it returns in rest
// why that is insufficient. part is nil if everything was read.
type judge func(w command.World, refs []object.Ref, part *reach.OneNamespace) (rest string, err error)

// Answer answers a question about single objects. If mayBeEnough, it first reads only their
// namespace and the cluster-scoped objects, and everything only if judge finds that insufficient.
func (t *targets) Answer(c *cobra.Command, streams genericiooptions.IOStreams, from *command.Source, args []string, mayBeEnough bool, judge judge) error {
	if mayBeEnough && from.Whole() && !t.Files.UsesStdin() && !namesRelease(args) { // a release may have objects anywhere
		done, err := t.answerNarrowly(c, streams, from, args, judge)
		if done || err != nil {
			return err
		}
	}
	t.Confine(from, args)
	w, err := from.Read(c, streams, &t.Namespaces)
	if err != nil {
		return err
	}
	if t.AcceptsUnreadNamespace {
		t.addUnreadNamespaces(&w, args, streams.ErrOut)
	}
	refs, err := t.Find(c, w, args)
	if err != nil {
		return err
	}
	_, err = judge(w, refs, nil)
	return err
}

// Confine makes the source read at least the namespaces of the arguments if the user may not list
// everything in the cluster.
func (t *targets) Confine(from *command.Source, args []string) {
	named, others := t.namespacesNamed(args)
	from.Single, from.About = true, slices.Concat(named, others)
}

// answerNarrowly reports whether reading one namespace was sufficient.
func (t *targets) answerNarrowly(c *cobra.Command, streams genericiooptions.IOStreams, from *command.Source, args []string, judge judge) (done bool, err error) {
	if err := t.Check(c, args); err != nil {
		return false, err
	}
	client, err := from.Open(c, &t.Namespaces)
	if err != nil {
		return false, err
	}
	namespace := t.oneNamespace(c.Context(), client, args)
	if namespace == "" {
		return false, nil
	}
	return inPart(c, streams, from, client, namespace, func(w command.World, part *reach.OneNamespace) (string, error) {
		refs, err := t.Find(c, w, args)
		if err != nil {
			return err.Error(), nil //nolint:nilerr // reading the whole cluster will report the error
		}
		return judge(w, refs, part)
	})
}

// AnswerIn is Answer for all objects of a namespace, or of all namespaces. namespace is empty for
// all.
func (t *targets) AnswerIn(c *cobra.Command, streams genericiooptions.IOStreams, from *command.Source, mayBeEnough bool, judge func(w command.World, namespace string, part *reach.OneNamespace) (rest string, err error)) error {
	in := &t.Namespaces
	if mayBeEnough && from.Whole() && !in.All {
		client, err := from.Open(c, in)
		if err != nil {
			return err
		}
		namespace := in.Listed(true)
		done, err := inPart(c, streams, from, client, namespace, func(w command.World, part *reach.OneNamespace) (string, error) {
			return judge(w, namespace, part)
		})
		if done || err != nil {
			return err
		}
	}
	from.Single = true
	w, err := from.Read(c, streams, in)
	if err != nil {
		return err
	}
	_, err = judge(w, in.Listed(w.Client != nil), nil)
	return err
}

// inPart answers a question from one namespace and the cluster-scoped objects, and reports whether
// that was sufficient.
func inPart(c *cobra.Command, streams genericiooptions.IOStreams, from *command.Source, client *kube.Client, namespace string, judge func(command.World, *reach.OneNamespace) (rest string, err error)) (done bool, err error) {
	scope := from.Cluster.Scope
	scope.Namespaces = []string{namespace}
	snap, err := from.Cluster.Read(c, client, scope, streams.ErrOut)
	if err != nil {
		return false, err
	}
	rest, err := judge(command.World{Snapshot: snap, Client: client}, reach.InNamespace(snap, namespace))
	if rest != "" || err != nil {
		return false, err
	}
	from.PrintWarnings(snap, streams.ErrOut)
	return true, nil
}

// oneNamespace returns the common namespace of the objects, or the single Namespace if the question
// is about its content; empty if there is none. Errors are reported later, when the objects are
// looked up in the snapshot.
func (t *targets) oneNamespace(ctx context.Context, client *kube.Client, args []string) string {
	objects, err := t.Namespaces.Resolve(ctx, client, t.asked(args))
	if err != nil || len(objects) == 0 {
		return ""
	}
	if t.Content && len(objects) == 1 && objects[0].Is(object.Namespace) {
		return objects[0].Name
	}
	for _, o := range objects {
		if o.Namespace != objects[0].Namespace {
			return ""
		}
	}
	return objects[0].Namespace
}

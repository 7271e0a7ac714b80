package targets

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// judge answers a question about objects. If only a part of a cluster was read, it returns in rest
// why that is insufficient. part is nil if everything was read.
type judge func(w source.World, refs []object.Ref, part *impact.OneNamespace) (rest string, err error)

// Answer answers a question about single objects. If mayBeEnough, it first reads only their
// namespace and the cluster-scoped objects, and everything only if judge finds that insufficient.
func (t *Targets) Answer(c *cobra.Command, streams genericiooptions.IOStreams, from *source.Source, args []string, mayBeEnough bool, judge judge) error {
	if mayBeEnough && from.Whole() && !t.Files.UsesStdin() {
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
	if t.Supposes {
		t.suppose(&w, args, streams.ErrOut)
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
func (t *Targets) Confine(from *source.Source, args []string) {
	named, others := t.namespacesNamed(args)
	from.Single, from.About = true, slices.Concat(named, others)
}

// answerNarrowly reports whether reading one namespace was sufficient.
func (t *Targets) answerNarrowly(c *cobra.Command, streams genericiooptions.IOStreams, from *source.Source, args []string, judge judge) (done bool, err error) {
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
	return inPart(c, streams, from, client, namespace, func(w source.World, part *impact.OneNamespace) (string, error) {
		refs, err := t.Find(c, w, args)
		if err != nil {
			return err.Error(), nil //nolint:nilerr // reading the whole cluster will report the error
		}
		return judge(w, refs, part)
	})
}

// AnswerIn is Answer for all objects of a namespace, or of all namespaces. namespace is empty for
// all.
func (t *Targets) AnswerIn(c *cobra.Command, streams genericiooptions.IOStreams, from *source.Source, mayBeEnough bool, judge func(w source.World, namespace string, part *impact.OneNamespace) (rest string, err error)) error {
	in := &t.Namespaces
	if mayBeEnough && from.Whole() && !in.All {
		client, err := from.Open(c, in)
		if err != nil {
			return err
		}
		namespace := in.Listed(true)
		done, err := inPart(c, streams, from, client, namespace, func(w source.World, part *impact.OneNamespace) (string, error) {
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
func inPart(c *cobra.Command, streams genericiooptions.IOStreams, from *source.Source, client *kube.Client, namespace string, judge func(source.World, *impact.OneNamespace) (rest string, err error)) (done bool, err error) {
	scope := from.Cluster.Scope
	scope.Namespaces = []string{namespace}
	snap, err := from.Cluster.Read(c, client, scope, streams.ErrOut)
	if err != nil {
		return false, err
	}
	rest, err := judge(source.World{Snapshot: snap, Client: client}, impact.InNamespace(snap, namespace))
	if rest != "" || err != nil {
		return false, err
	}
	from.Remark(snap, streams.ErrOut)
	return true, nil
}

// oneNamespace returns the common namespace of the objects, or the single Namespace if the question
// is about its content; empty if there is none. Errors are reported later, when the objects are
// looked up in the snapshot.
func (t *Targets) oneNamespace(ctx context.Context, client *kube.Client, args []string) string {
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

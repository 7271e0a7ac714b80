package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// living reads dependents that may still exist in a cluster while their owners are recreated.
type living struct {
	*kube.Client
	c       *cobra.Command
	streams genericiooptions.IOStreams
	cluster *source.Cluster
	// namespace is the only namespace in question; empty for all.
	namespace string
	warned    bool
}

// Dependents reads the objects that may refer to the owners. It warns of kinds that it could not
// read.
func (l *living) Dependents(_ context.Context, owners []object.Ref, kinds []schema.GroupKind) (found []object.Ref, ofKinds int, err error) {
	scope := l.scope(owners, kinds)
	snap, err := l.cluster.Read(l.c, l.Client, scope, l.streams.ErrOut)
	if err != nil {
		return nil, 0, err
	}
	l.warn(snap, len(scope.Namespaces) == 0)
	uids := make(map[types.UID]bool, len(owners))
	for _, ref := range owners {
		uids[ref.UID] = true
	}
	for _, o := range snap.Objects {
		ofKind := refersTo(o, func(r object.OwnerReference) bool {
			return slices.Contains(kinds, schema.GroupKind{Group: object.GroupOf(r.APIVersion), Kind: r.Kind})
		})
		switch {
		case o.BeingDeleted(): // its deletion can't be stopped
			continue
		case l.namespace != "" && o.Namespace != "" && o.Namespace != l.namespace: // its owner was not asked for
			continue
		case ofKind:
			ofKinds++
		case !refersTo(o, func(r object.OwnerReference) bool { return uids[r.UID] }):
			continue
		}
		found = append(found, o.Ref)
	}
	return found, ofKinds, nil
}

func refersTo(o *object.Object, owner func(object.OwnerReference) bool) bool {
	return slices.ContainsFunc(o.Owners, owner)
}

// scope returns where dependents can be: in the namespaces of their owners, or anywhere if an owner
// is cluster-scoped.
func (l *living) scope(owners []object.Ref, kinds []schema.GroupKind) (scope kube.Scope) {
	if l.namespace != "" {
		scope.Instead = []string{l.namespace}
	}
	if len(kinds) > 0 || slices.ContainsFunc(owners, func(r object.Ref) bool { return r.Namespace == "" }) {
		return scope
	}
	for _, ref := range owners {
		scope.Namespaces = append(scope.Namespaces, ref.Namespace)
	}
	slices.Sort(scope.Namespaces)
	scope.Namespaces = slices.Compact(scope.Namespaces)
	return scope
}

// warn prints once which kinds of dependents could not be read. Cluster-scoped kinds count only
// with cluster-scoped owners, since they can't refer to a namespaced one.
func (l *living) warn(snap *snapshot.Snapshot, everywhere bool) {
	const most = 5
	var unread []string
	for _, g := range snap.Gaps {
		if g.Reason() != reason.LeftOut && (g.Namespace != "" || everywhere || g.Resource == snapshot.EveryResource) {
			unread = append(unread, g.Resource+strings.TrimSuffix("."+object.GroupOf(g.APIVersion), "."))
		}
	}
	slices.Sort(unread)
	if unread = slices.Compact(unread); len(unread) == 0 || l.warned {
		return
	}
	l.warned = true
	text := strings.Join(unread[:min(most, len(unread))], ", ")
	if more := len(unread) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	fmt.Fprintf(l.streams.ErrOut, "warning: cannot read %s: if objects of these types still refer to what is restored, their owner references keep the old uid, and the garbage collector deletes them\n", render.Escape(text))
}

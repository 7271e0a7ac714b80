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

// living is a cluster in which owners are made again whose dependents may still be there.
type living struct {
	*kube.Client
	c       *cobra.Command
	streams genericiooptions.IOStreams
	// namespace is where to look if we may not read all of the cluster.
	namespace string
	// ofKinds is how many of those that were found last belong to whole kinds.
	ofKinds int
	warned  bool
}

// Dependents reads what may refer to the owners. It warns of what it could not read.
func (l *living) Dependents(_ context.Context, owners []object.Ref, kinds []schema.GroupKind) ([]object.Ref, error) {
	scope, anything := l.scope(owners, kinds)
	if !anything {
		return nil, nil
	}
	w, err := (&source.Source{}).ReadScope(l.c, l.streams, l.Client, scope)
	if err != nil {
		return nil, err
	}
	l.warn(w.Snapshot, len(scope.Namespaces) == 0)
	uids := make(map[types.UID]bool, len(owners))
	for _, ref := range owners {
		uids[ref.UID] = true
	}
	l.ofKinds = 0
	var found []object.Ref
	for _, o := range w.Snapshot.Objects {
		ofKind := refersTo(o, func(r object.OwnerReference) bool {
			return slices.Contains(kinds, schema.GroupKind{Group: object.GroupOf(r.APIVersion), Kind: r.Kind})
		})
		switch {
		case o.BeingDeleted():
			continue // nothing stops that
		case ofKind:
			l.ofKinds++
		case !refersTo(o, func(r object.OwnerReference) bool { return uids[r.UID] }):
			continue
		}
		found = append(found, o.Ref)
	}
	return found, nil
}

func refersTo(o *object.Object, owner func(object.OwnerReference) bool) bool {
	return slices.ContainsFunc(o.Owners, owner)
}

// scope is where dependents can be: in the namespaces of their owners, or anywhere if an owner
// has none. With a namespace all went that was in it.
func (l *living) scope(owners []object.Ref, kinds []schema.GroupKind) (scope kube.Scope, anything bool) {
	if l.namespace != "" {
		scope.Instead = []string{l.namespace}
	}
	if len(kinds) > 0 {
		return scope, true
	}
	gone := map[string]bool{}
	for _, ref := range owners {
		if ref.Is(object.Namespace) {
			gone[ref.Name] = true
		}
	}
	for _, ref := range owners {
		switch {
		case ref.Namespace == "":
			return scope, true
		case !gone[ref.Namespace]:
			scope.Namespaces = append(scope.Namespaces, ref.Namespace)
		}
	}
	slices.Sort(scope.Namespaces)
	scope.Namespaces = slices.Compact(scope.Namespaces)
	return scope, len(scope.Namespaces) > 0
}

// warn says, once, of which kinds dependents are not known. What is in no namespace cannot
// refer to an owner that is in one.
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
	fmt.Fprintf(l.streams.ErrOut, "warning: cannot read %s: if objects of these types still refer to what is restored, they keep its old uid, and the garbage collector deletes them\n", render.Escape(text))
}

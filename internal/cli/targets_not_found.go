package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// notFound returns the error for an object that is not in the snapshot: whether the snapshot is
// complete, namespaces with an object of that name, and similar names.
func notFound(snap *snapshot.Snapshot, r object.Resource, namespace, name string) error {
	var elsewhere, names []string
	for _, o := range snap.OfType(r) {
		if o.Name == name {
			elsewhere = append(elsewhere, o.Namespace)
		}
		if o.Namespace == namespace {
			names = append(names, o.Name)
		}
	}
	if of, ok := object.ProjectionOf(r.GroupResource()); ok && !r.Verbs.Has(object.List) {
		return fmt.Errorf("%s are views of %s, and what a delete of one changes there is unknown: name the %s instead", r.Name, of.String(), of.Resource)
	}
	where := ""
	if r.Namespaced {
		where = fmt.Sprintf(" in namespace %q", namespace)
	}
	if r.Namespaced && noSuchNamespace(snap, namespace) {
		near := append(command.Nearest(namespace, namespaceNames(snap)), elsewhere...)
		slices.Sort(near)
		return fmt.Errorf("%s %q not found: there is no namespace %q%s", r.Name, name, namespace, command.DidYouMean(slices.Compact(near)))
	}
	text := fmt.Sprintf("%s %q not found%s", r.Name, name, where)
	switch {
	case slices.Contains(elsewhere, ""): // helm template prints such manifests
		text += "; there is one without a namespace, as in a manifest that was not applied: ask a cluster, or a dump of one"
	case len(elsewhere) > 0:
		text += fmt.Sprintf("; there is one in namespace %s: add -n", strings.Join(elsewhere[:min(3, len(elsewhere))], ", "))
	case !snap.Covers(r, namespace) && snap.Source.Server != "":
		text += "; not all " + r.Name + " there could be read" + command.DidYouMean(command.Nearest(name, names))
	case !snap.Covers(r, namespace):
		text += "; the dump does not show all " + r.Name + " there" + command.DidYouMean(command.Nearest(name, names))
	default:
		text += command.DidYouMean(command.Nearest(name, names))
	}
	return fmt.Errorf("%s", text)
}

// noSuchNamespace reports whether a namespace is proven not to exist.
func noSuchNamespace(snap *snapshot.Snapshot, name string) bool {
	return snap.Covers(object.Namespace.Resource(), "") && snap.FindKind(object.Namespace, "", name) == nil
}

// noteNamespace prints a note if the namespace does not exist.
func noteNamespace(errOut io.Writer, snap *snapshot.Snapshot, name string) {
	if name != "" && noSuchNamespace(snap, name) {
		fmt.Fprintf(errOut, "note: there is no namespace %q%s\n", name, render.Escape(command.DidYouMean(command.Nearest(name, namespaceNames(snap)))))
	}
}

// addUnreadNamespaces adds the named namespaces that have content in the snapshot, but were not read
// themselves. For a delete it prints a note; other answers contain it themselves.
func (t *targets) addUnreadNamespaces(w *command.World, args []string, errOut io.Writer) {
	named, _ := t.namespacesNamed(args)
	for _, name := range named {
		supposed := w.Suppose(name)
		if supposed == nil {
			continue
		}
		w.Snapshot, t.NamespaceUnread = supposed, true
		if t.Deletes {
			noteUnseen(errOut, *w, name)
		}
	}
}

// noteUnseen prints a note that only the content of a namespace was read.
func noteUnseen(errOut io.Writer, w command.World, name string) {
	if w.Client == nil {
		fmt.Fprintf(errOut, "note: the dump has objects in namespace %q, but not the namespace itself; its finalizers, annotations and uid are not known\n", name)
	} else {
		fmt.Fprintf(errOut, "note: namespace %q itself may not be read, only its content; its finalizers and annotations are unknown, and whether it is being deleted\n", name)
	}
}

func namespaceNames(snap *snapshot.Snapshot) []string {
	return object.Mapped(snap.OfType(object.Namespace.Resource()), func(o *object.Object) string { return o.Name })
}

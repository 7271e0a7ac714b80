package targets

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// notFound is the error about an object that is not in the snapshot: whether that
// means anything, where else the name stands, and what else could be meant.
func notFound(snap *snapshot.Snapshot, r object.Resource, namespace, name string) error {
	var elsewhere, names []string
	for _, o := range objectsOf(snap, r) {
		if o.Name == name {
			elsewhere = append(elsewhere, o.Namespace)
		}
		if o.Namespace == namespace {
			names = append(names, o.Name)
		}
	}
	where := ""
	if r.Namespaced {
		where = fmt.Sprintf(" in namespace %q", namespace)
	}
	if r.Namespaced && noSuchNamespace(snap, namespace) {
		near := append(usage.Nearest(namespace, namespaceNames(snap)), elsewhere...)
		slices.Sort(near)
		return fmt.Errorf("%s %q not found: there is no namespace %q%s", r.Name, name, namespace, usage.DidYouMean(slices.Compact(near)))
	}
	text := fmt.Sprintf("%s %q not found%s", r.Name, name, where)
	switch {
	case len(elsewhere) > 0:
		text += fmt.Sprintf("; there is one in namespace %s: add -n", strings.Join(elsewhere[:min(3, len(elsewhere))], ", "))
	case !snap.Covers(r, namespace) && snap.Source.Server != "":
		text += "; not all " + r.Name + " there could be read" + usage.DidYouMean(usage.Nearest(name, names))
	case !snap.Covers(r, namespace):
		text += "; the dump does not show all " + r.Name + " there" + usage.DidYouMean(usage.Nearest(name, names))
	default:
		text += usage.DidYouMean(usage.Nearest(name, names))
	}
	return fmt.Errorf("%s", text)
}

// noSuchNamespace reports whether a namespace is proven not to exist.
func noSuchNamespace(snap *snapshot.Snapshot, name string) bool {
	return snap.Covers(object.Namespace.Resource(), "") && snap.FindKind(object.Namespace, "", name) == nil
}

// NoteNamespace tells of a namespace that was asked about and is not there.
func NoteNamespace(errOut io.Writer, snap *snapshot.Snapshot, name string) {
	if name != "" && noSuchNamespace(snap, name) {
		fmt.Fprintf(errOut, "note: there is no namespace %q%s\n", name, render.Escape(usage.DidYouMean(usage.Nearest(name, namespaceNames(snap)))))
	}
}

// suppose adds to a dump the namespaces that are named and whose content it holds without
// them, and says so.
func (t *Targets) suppose(w *source.World, args []string, errOut io.Writer) {
	for i, arg := range args {
		kind, name, slashed := strings.Cut(arg, "/")
		if !slashed && i > 0 {
			kind, name = args[0], arg
		}
		r, err := FindResource(w.Snapshot, kind)
		if err != nil || !r.Is(object.Namespace) {
			continue
		}
		if supposed := w.Suppose(name); supposed != nil {
			w.Snapshot = supposed
			fmt.Fprintf(errOut, "note: the dump holds objects in namespace %q and not the namespace itself; its own finalizers, annotations and uid are not known\n", name)
		}
	}
}

func namespaceNames(snap *snapshot.Snapshot) []string {
	var names []string
	for _, o := range objectsOf(snap, object.Namespace.Resource()) {
		names = append(names, o.Name)
	}
	return names
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// lostNames are objects given by type and name, and the namespace for namespaced types. Neither the
// objects nor their types need to exist.
type lostNames struct {
	namespace string
	list      []typedName
}

type typedName struct{ kind, name string }

// namedObjects parses arguments of the forms TYPE NAME… and TYPE/NAME….
func namedObjects(c *cobra.Command, args []string) (lostNames, error) {
	var n lostNames
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		return n, usage.Errorf(c, "which %s? Give %s/NAME", args[0], args[0])
	}
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return n, usage.Errorf(c, "give TYPE NAME… or TYPE/NAME…, not both")
			}
			n.list = append(n.list, typedName{args[0], name})
		}
		return n, nil
	}
	for _, arg := range args {
		kind, name, _ := strings.Cut(arg, "/")
		if kind == "" || name == "" || strings.Contains(name, "/") {
			return n, usage.Errorf(c, "%q: give TYPE/NAME for each object", arg)
		}
		n.list = append(n.list, typedName{kind, name})
	}
	return n, nil
}

// spaces returns the namespaces where the objects and their dependents may have been; nil for all.
func (n lostNames) spaces(served *object.Resources) []string {
	types := typesOf(served)
	var spaces []string
	for _, x := range n.list {
		switch r, ok := types.Find(x.kind); {
		case ok && r.Is(object.Namespace):
			spaces = append(spaces, x.name)
		case ok && !r.Namespaced:
			return nil
		default:
			spaces = append(spaces, n.namespace)
		}
	}
	slices.Sort(spaces)
	return slices.Compact(spaces)
}

// objects returns the references of the objects. Types are those that the server serves, and those
// of deleted CRDs.
func (n lostNames) objects(past *history.Past) ([]object.Ref, error) {
	if len(n.list) == 0 {
		return nil, nil
	}
	resources := past.Resources.Clone()
	for i := range past.Changes {
		history.AddDefined(resources, past.Changes[i].Object)
	}
	types := typesOf(resources)
	refs := make([]object.Ref, 0, len(n.list))
	for _, x := range n.list {
		r, ok := types.Find(x.kind)
		if !ok {
			return nil, &unknownTypeError{x.kind, usage.Nearest(strings.ToLower(x.kind), resources.Names())}
		}
		ref := object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: x.name}
		if r.Namespaced {
			ref.Namespace = n.namespace
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// unknownTypeError reports a type that is not served and was not deleted.
type unknownTypeError struct {
	name string
	near []string
}

// Error suggests similar types.
func (e *unknownTypeError) Error() string {
	return fmt.Sprintf("the server has no resource type %q, and none was deleted%s", e.name, usage.DidYouMean(e.near))
}

// typesOf returns all types for lookups by name. The first match counts.
func typesOf(resources *object.Resources) targets.Types {
	return targets.Types{Resources: resources, Holds: func(object.Resource) bool { return true }}
}

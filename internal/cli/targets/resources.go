package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Types are the types that can be named, and which of them there are objects of.
type Types struct {
	*object.Resources
	Holds func(object.Resource) bool
}

// Find resolves a type as kubectl does: plural, singular, kind or short name,
// optionally followed by a group, or by a version and a group. Of several it takes the
// first one that there are objects of.
func (s Types) Find(arg string) (object.Resource, bool) {
	name, rest, dotted := strings.Cut(strings.ToLower(arg), ".")
	var all []object.Resource
	for _, r := range s.All() {
		if !r.Served() || !answersTo(r, name) || dotted && !answersToGroup(r, rest) {
			continue
		}
		if p, ok := s.Preferred(r.GroupResource()); ok && !slices.ContainsFunc(all, sameStorage(p)) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return object.Resource{}, false
	}
	return all[max(0, slices.IndexFunc(all, s.Holds))], true
}

// FindResource finds the type that an argument names in a snapshot.
func FindResource(snap *snapshot.Snapshot, arg string) (object.Resource, error) {
	known := Types{snap.Resources, func(r object.Resource) bool { return len(objectsOf(snap, r)) > 0 }}
	if r, ok := known.Find(arg); ok {
		return r, nil
	}
	return object.Resource{}, fmt.Errorf("%s has no resource type %q%s", source.What(snap), arg, usage.DidYouMean(usage.Nearest(strings.ToLower(arg), typeNames(snap))))
}

func sameStorage(a object.Resource) func(object.Resource) bool {
	return func(b object.Resource) bool { return a.GroupResource() == b.GroupResource() }
}

func answersTo(r object.Resource, name string) bool {
	return name == r.Name || name == r.Singular || strings.EqualFold(name, r.Kind) || slices.Contains(r.ShortNames, name)
}

func answersToGroup(r object.Resource, rest string) bool {
	if rest == r.Group {
		return true
	}
	version, group, _ := strings.Cut(rest, ".")
	return version == r.Version && group == r.Group
}

func typeNames(snap *snapshot.Snapshot) []string {
	var names []string
	for _, r := range snap.Resources.All() {
		if r.Served() {
			names = append(names, r.Name, r.Singular)
			names = append(names, r.ShortNames...)
		}
	}
	return names
}

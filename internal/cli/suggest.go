package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// typeSet are the types that can be named, and which of them there are objects of.
type typeSet struct {
	*object.Resources
	holds func(object.Resource) bool
}

// find resolves a type as kubectl does: plural, singular, kind or short name,
// optionally followed by a group, or by a version and a group. Of several it takes the
// first one that there are objects of.
func (s typeSet) find(arg string) (object.Resource, bool) {
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
	return all[max(0, slices.IndexFunc(all, s.holds))], true
}

// findResource finds the type that an argument names in a snapshot.
func findResource(snap *snapshot.Snapshot, arg string) (object.Resource, error) {
	known := typeSet{snap.Resources, func(r object.Resource) bool { return len(objectsOf(snap, r)) > 0 }}
	if r, ok := known.find(arg); ok {
		return r, nil
	}
	return object.Resource{}, fmt.Errorf("the dump knows no resource type %q%s", arg, didYouMean(nearest(strings.ToLower(arg), typeNames(snap))))
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
		near := append(nearest(namespace, namespaceNames(snap)), elsewhere...)
		slices.Sort(near)
		return fmt.Errorf("%s %q not found: there is no namespace %q%s", r.Name, name, namespace, didYouMean(slices.Compact(near)))
	}
	text := fmt.Sprintf("%s %q not found%s", r.Name, name, where)
	switch {
	case len(elsewhere) > 0:
		text += fmt.Sprintf("; there is one in namespace %s: add -n", strings.Join(elsewhere[:min(3, len(elsewhere))], ", "))
	case !snap.Covers(r, namespace):
		text += "; the dump does not show all " + r.Name + " there" + didYouMean(nearest(name, names))
	default:
		text += didYouMean(nearest(name, names))
	}
	return fmt.Errorf("%s", text)
}

var namespaceType = object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace"}

// noSuchNamespace tells whether a namespace is proven not to exist.
func noSuchNamespace(snap *snapshot.Snapshot, name string) bool {
	return snap.Covers(namespaceType, "") && snap.Find("v1", "Namespace", "", name) == nil
}

// noteNamespace tells of a namespace that was asked about and is not there.
func noteNamespace(errOut io.Writer, snap *snapshot.Snapshot, name string) {
	if name != "" && noSuchNamespace(snap, name) {
		fmt.Fprintf(errOut, "note: there is no namespace %q%s\n", name, render.Escape(didYouMean(nearest(name, namespaceNames(snap)))))
	}
}

func namespaceNames(snap *snapshot.Snapshot) []string {
	var names []string
	for _, o := range objectsOf(snap, namespaceType) {
		names = append(names, o.Name)
	}
	return names
}

// oneOf is nil if a flag has one of the values that it knows.
func oneOf(c *cobra.Command, flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return usageErrorf(c, "--%s=%s: must be %s or %s%s", flag, value, strings.Join(known[:last], ", "), known[last],
		didYouMean(nearest(strings.ToLower(value), known)))
}

func sameLetters(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// nearest lists up to three candidates that differ from a word in few letters or
// in their order only, or that start with it.
func nearest(word string, candidates []string) []string {
	type scored struct {
		text     string
		distance int
	}
	var near []scored
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(word, c)
		if d > 0 && sameLetters(word, c) {
			d = 0
		}
		if d <= max(1, len(word)/4) || len(word) >= 3 && strings.HasPrefix(c, word) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.text, b.text)
	})
	var texts []string
	for _, n := range near {
		if !slices.Contains(texts, n.text) && len(texts) < 3 {
			texts = append(texts, n.text)
		}
	}
	return texts
}

package object

import (
	"slices"
	"strings"
)

// Named resolves a type argument as kubectl does: plural, singular, kind or short name, optionally
// followed by a group, or by a version and a group. Of several matches it returns the first one
// that preferred accepts, or else the first.
func (rs *Resources) Named(arg string, preferred func(Resource) bool) (Resource, bool) {
	name, rest, dotted := strings.Cut(strings.ToLower(arg), ".")
	var all []Resource
	for _, r := range rs.All() {
		if !r.Served() || !r.answersTo(name) || dotted && !r.answersToGroup(rest) {
			continue
		}
		if p, ok := rs.Preferred(r.GroupResource()); ok && !slices.ContainsFunc(all, p.sameStorage) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return Resource{}, false
	}
	return all[max(0, slices.IndexFunc(all, preferred))], true
}

// Names returns the names that types can be called by, without groups.
func (rs *Resources) Names() []string {
	var names []string
	for _, r := range rs.All() {
		if r.Served() {
			names = append(names, r.Name, r.Singular)
			names = append(names, r.ShortNames...)
		}
	}
	return names
}

func (r Resource) sameStorage(s Resource) bool { return r.GroupResource() == s.GroupResource() }

func (r Resource) answersTo(name string) bool {
	return name == r.Name || name == r.Singular || strings.EqualFold(name, r.Kind) || slices.Contains(r.ShortNames, name)
}

func (r Resource) answersToGroup(rest string) bool {
	if rest == r.Group {
		return true
	}
	version, group, _ := strings.Cut(rest, ".")
	return version == r.Version && group == r.Group
}

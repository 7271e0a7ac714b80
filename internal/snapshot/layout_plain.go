package snapshot

import (
	"slices"
	"strings"
)

// locateDiscovery recognises discovery documents: all files in a directory named `discovery`, and
// the usual names elsewhere.
func locateDiscovery(dirs []string, base string) (location, bool) {
	if n := len(dirs); n >= 1 && dirs[n-1] == "discovery" {
		l := location{role: discovery, directory: strings.Join(dirs[:n-1], "/")}
		if l.directory == "" {
			l.directory = "."
		}
		return l, true
	}
	switch base {
	case "groups", "resources", "version", "api", "apis", "api-resources":
		return location{role: perhapsDiscovery}, true
	}
	return location{}, false
}

// locateByName recognises files named after a resource. There are two formats:
// `<namespace>/pods.json` of `kubectl cluster-info dump` is the list of one namespace, `pods.json`
// in a directory of lists is the list of all. The directory decides (see decideDirectories).
func locateByName(_ []string, base string) (location, bool) {
	l := location{role: objects, scope: byDirectory}.named(base)
	if l.grouped && strings.Contains(base, ".") && l.resource != "" && resourceName(l.resource) && builtinOrDotted(l) {
		return l, true
	}
	if !l.grouped && builtinNames().isPlural(base) {
		return l, true
	}
	return location{}, false
}

// resourceName reports whether a word can be a plural.
func resourceName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != ""
}

// builtinOrDotted keeps names such as `my.notes.yaml` from being taken for resources: without a
// built-in resource of that name, the group must look like a domain.
func builtinOrDotted(l location) bool {
	_, ok := builtinNames().resource(l)
	return ok || strings.Contains(l.group, ".")
}

// clusterInfoNames are the files that `kubectl cluster-info dump` writes for each namespace.
var clusterInfoNames = []string{"daemonsets", "deployments", "events", "pods", "replicasets", "replication-controllers", "services"}

// decideDirectories sets the scope of the lists in files named after a resource:
//
//   - A directory with discovery documents is a directory of lists, one file per resource with all
//     namespaces.
//   - A directory with only the files of `kubectl cluster-info dump` is a namespace of such a
//     dump, if no item disagrees, and if nodes.json is in its parent or most of the seven files
//     exist.
//   - The only directory next to a discovery folder is a directory of lists if its lists have two
//     namespaces or more; with fewer it may be one namespace.
//   - In any other directory a list covers the namespaces of its items: such files are also
//     written by `kubectl get -n`.
func decideDirectories(sightings []*sighting, discoveries map[string]bool) {
	directories := map[string][]*sighting{}
	for _, list := range sightings {
		if list.scope == byDirectory {
			directories[list.directory] = append(directories[list.directory], list)
		}
	}
	for dir, lists := range directories {
		s, namespace := decideDirectory(dir, lists, directories, discoveries)
		for _, l := range lists {
			l.scope, l.namespace = s, namespace
		}
	}
}

func decideDirectory(dir string, lists []*sighting, all map[string][]*sighting, discoveries map[string]bool) (scope, string) {
	above, base := "", dir
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		above, base = dir[:i], dir[i+1:]
	}
	if discoveries[rootName(dir)] {
		return everywhere, ""
	}
	if dir != "" && isClusterInfo(base, lists, all[above]) {
		return inNamespace, base
	}
	if dir != "" && discoveries[rootName(above)] && onlyBelow(above, all) && len(namespacesShown(lists)) >= 2 {
		return everywhere, ""
	}
	return shown, ""
}

func rootName(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

func isClusterInfo(namespace string, lists, above []*sighting) bool {
	names := map[string]bool{}
	for _, l := range lists {
		if l.grouped || !slices.Contains(clusterInfoNames, l.resource) {
			return false
		}
		names[l.resource] = true
	}
	for ns := range namespacesShown(lists) {
		if ns != namespace {
			return false
		}
	}
	nodesAbove := slices.ContainsFunc(above, func(l *sighting) bool { return l.resource == "nodes" })
	return nodesAbove || len(names) >= 5
}

// onlyBelow reports whether exactly one directory below this one has lists.
func onlyBelow(above string, all map[string][]*sighting) bool {
	n := 0
	for dir := range all {
		if i := strings.LastIndexByte(dir, '/'); dir != "" && dir[:max(i, 0)] == above {
			n++
		}
	}
	return n == 1
}

func namespacesShown(lists []*sighting) map[string]bool {
	names := map[string]bool{}
	for _, l := range lists {
		for _, s := range l.shown {
			if s.namespace != "" {
				names[s.namespace] = true
			}
		}
	}
	return names
}

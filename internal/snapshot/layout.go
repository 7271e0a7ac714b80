package snapshot

import (
	"regexp"
	"slices"
	"strings"
)

// layout is a format of dumps, recognised by their paths.
type layout struct {
	// name is the one in the table of docs/offline.md.
	name string
	// locate returns what a file is; false if the path is not of this layout.
	locate func(dirs []string, base string) (location, bool)
	// proof returns what a list in it proves.
	proof func(s *sighting) proof
}

// proof is the value of a list: whether an object that is not on it is absent.
type proof uint8

const (
	// nothing: the list is a selection.
	nothing proof = iota
	// taken: a person took it with kubectl, perhaps with a selector. It is complete for the
	// namespaces of its items, unless it looks like a selection.
	taken
	// whole: a program listed all objects of a kind, in the scope of the path or, without one, in
	// the namespaces of its items.
	whole
)

// layouts are the known ones. The first one that recognises a path decides.
var layouts = []layout{
	{"sonobuoy", locateSonobuoy, wholeList},
	{"troubleshoot", locateBundle, bundleList},
	{"must-gather", locateMustGather, anyList},
	{"Insights", locateInsights, noList},
	{"sonobuoy's results", locateAside, noList},
	{"discovery", locateDiscovery, anyList},
	{"named", locateByName, namedList},
}

// proof returns the proof of a list by its layout.
func (s *sighting) proof() proof {
	for _, l := range layouts {
		if l.name == s.layout {
			return l.proof(s)
		}
	}
	return anyList(s)
}

func wholeList(*sighting) proof { return whole }

func noList(*sighting) proof { return nothing }

// anyList judges a list by its form. kubectl and oc write `kind: List` for any request, and an
// array was cut out of a list. Programs write lists as the server returns them, with their kind, or
// at least a resourceVersion.
func anyList(s *sighting) proof {
	if s.list.Kind == "List" || s.list.Kind == "" && s.list.ResourceVersion == "" && !s.stream {
		return taken
	}
	return whole
}

// bundleList: a bundle of some namespaces has these in a list without a kind.
func bundleList(s *sighting) proof {
	if s.resource == "namespaces" && s.list.Kind == "" {
		return nothing
	}
	return whole
}

// namedList: decideDirectories has decided whether a program wrote the file.
func namedList(s *sighting) proof {
	if s.scope == shown {
		return anyList(s)
	}
	return whole
}

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
	// Names such as `my.notes.yaml` are no resources: the group must be built in or look like a domain.
	if _, builtin := builtinNames().resource(l); l.grouped && pluralName.MatchString(l.resource) && (builtin || strings.Contains(l.group, ".")) {
		return l, true
	}
	if !l.grouped && builtinNames().isPlural(base) {
		return l, true
	}
	return location{}, false
}

// pluralName matches the words that can be a plural.
var pluralName = regexp.MustCompile(`^[a-z0-9-]+$`)

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

// locateMustGather recognises the output of `oc adm must-gather` and `oc adm inspect` below any
// number of directories (one is named after the image digest).
// `cluster-scoped-resources/<group>/<resource>.yaml` and
// `namespaces/<namespace>/<group>/<resource>.yaml` are lists.
// `cluster-scoped-resources/<group>/<resource>/<name>.yaml` and
// `namespaces/<namespace>/pods/<pod>/<pod>.yaml` are single objects and cover nothing. One object
// is often in both.
func locateMustGather(dirs []string, base string) (location, bool) {
	if i := slices.Index(dirs, "cluster-scoped-resources"); i >= 0 {
		return mustGatherCluster(dirs[i+1:], base), true
	}
	if i := slices.Index(dirs, "namespaces"); i >= 0 && len(dirs) > i+1 {
		return mustGatherNamespace(dirs[i+1], dirs[i+2:], base), true
	}
	return location{}, false
}

func mustGatherCluster(below []string, base string) location {
	switch len(below) {
	case 1:
		return location{role: objects, scope: inCluster, group: coreGroup(below[0]), grouped: true, resource: base}
	case 2:
		return location{role: objects, scope: shown, group: coreGroup(below[0]), grouped: true, resource: below[1]}
	default:
		return location{role: perhapsObjects}
	}
}

func mustGatherNamespace(namespace string, below []string, base string) location {
	switch {
	case len(below) == 1 && groupName(below[0]):
		l := location{role: objects, scope: inNamespace, namespace: namespace,
			group: coreGroup(below[0]), grouped: true, resource: base}
		if namespace == "all" {
			// The directory for lists that were not split by namespace.
			l.scope, l.namespace = shown, ""
		}
		return l
	case len(below) == 2 && below[0] == "pods" && below[1] == base:
		return location{role: objects, scope: shown, namespace: namespace, resource: "pods", grouped: true}
	case len(below) == 2 && groupName(below[0]):
		return location{role: objects, scope: shown, namespace: namespace,
			group: coreGroup(below[0]), grouped: true, resource: below[1]}
	default:
		return location{role: perhapsObjects}
	}
}

// groupName reports whether a directory is named after an API group.
func groupName(s string) bool {
	return strings.Contains(s, ".") || slices.Contains([]string{"core", "apps", "autoscaling", "batch", "extensions", "policy"}, s)
}

// insightsKinds are the directories of an Insights archive with objects of built-in kinds, one per
// file, which may lack their kind.
var insightsKinds = map[string]struct {
	resource, group string
	namespaced      bool
}{
	"node":                       {"nodes", "", false},
	"persistentvolumes":          {"persistentvolumes", "", false},
	"certificatesigningrequests": {"certificatesigningrequests", "certificates.k8s.io", false},
	"pod":                        {"pods", "", true},
	"pdbs":                       {"poddisruptionbudgets", "policy", true},
}

// locateInsights recognises the archives of OpenShift's Insights operator:
// `config/node/<name>.json`, `config/pod/<namespace>/<name>.json` and the like. The operator
// collects only objects of interest, such as failing pods: no list in the archive proves an
// absence.
func locateInsights(dirs []string, _ string) (location, bool) {
	for i, d := range dirs {
		if d != "config" || i+1 == len(dirs) {
			continue
		}
		kind, ok := insightsKinds[dirs[i+1]]
		below := dirs[i+2:]
		switch {
		case !ok:
		case kind.namespaced && len(below) == 1:
			return location{role: objects, scope: shown, resource: kind.resource, group: kind.group, grouped: true, namespace: below[0]}, true
		case !kind.namespaced && len(below) == 0:
			return location{role: objects, scope: shown, resource: kind.resource, group: kind.group, grouped: true}, true
		}
	}
	return location{}, false
}

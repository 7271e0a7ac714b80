package snapshot

import "strings"

// locateSonobuoy recognises the tarballs of sonobuoy: `resources/cluster/<file>` and
// `resources/ns/<namespace>/<file>`, where a file is `<group>_<version>_<plural>.json`, or
// `Pods.json` in old releases, with items without kind and apiVersion. The oldest have
// `resources/non-ns` for the cluster. An empty list has no file: see sonobuoyRun.
func locateSonobuoy(dirs []string, base string) (location, bool) {
	n := len(dirs)
	root := func(below int) string { return rootName(strings.Join(dirs[:n-below], "/")) }
	switch {
	case n >= 2 && dirs[n-2] == "resources" && (dirs[n-1] == "cluster" || dirs[n-1] == "non-ns"):
		return sonobuoyFile(base, location{role: objects, scope: inCluster, sonobuoy: root(2)}), true
	case n >= 3 && dirs[n-3] == "resources" && dirs[n-2] == "ns":
		return sonobuoyFile(base, location{role: objects, scope: inNamespace, namespace: dirs[n-1], sonobuoy: root(3)}), true
	case base == "servergroups" || base == "serverversion":
		return location{role: discovery}, true
	case n >= 1 && dirs[n-1] == "meta" && base == "query-time":
		return location{role: queries, sonobuoy: root(1)}, true
	case n >= 1 && dirs[n-1] == "meta" && base == "config":
		return location{role: settings, sonobuoy: root(1)}, true
	}
	return location{}, false
}

// locateAside recognises the directories of sonobuoy tarballs with results and logs, which never
// contain objects.
func locateAside(dirs []string, _ string) (location, bool) {
	for i, d := range dirs {
		if i+1 < len(dirs) && (d == "plugins" || d == "hosts" || d == "podlogs") {
			return location{role: foreign}, true
		}
	}
	return location{}, false
}

func sonobuoyFile(base string, l location) location {
	parts := strings.SplitN(base, "_", 3)
	if len(parts) != 3 {
		l.resource = strings.ToLower(base)
		return l
	}
	l.group, l.version, l.resource, l.grouped = coreGroup(parts[0]), parts[1], parts[2], true
	return l
}

// coreGroup translates the name of the core group in dump formats to "".
func coreGroup(group string) string {
	if group == "core" {
		return ""
	}
	return group
}

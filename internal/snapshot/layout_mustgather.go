package snapshot

import (
	"slices"
	"strings"
)

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

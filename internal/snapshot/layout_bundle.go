package snapshot

import (
	"slices"
	"strings"
)

// locateBundle recognises the support bundles of troubleshoot: `cluster-resources/<resource>.json`
// for cluster-scoped kinds, `cluster-resources/<resource>/<namespace>.json` for the others,
// `custom-resources/<crd>[/<namespace>].yaml` below it, and `<resource>-errors.json` for failed
// lists. Custom resources without instances have no file (see bundleRun).
func locateBundle(dirs []string, base string) (location, bool) {
	if n := len(dirs); n >= 1 && dirs[n-1] == "cluster-info" && base == "cluster_version" {
		return location{role: discovery}, true
	}
	i := slices.Index(dirs, "cluster-resources")
	if i < 0 {
		return location{}, false
	}
	root := strings.Join(dirs[:i+1], "/")
	below := dirs[i+1:]
	if len(below) == 0 {
		return bundleTop(base, root), true
	}
	switch below[0] {
	case "auth-cani-list", "image-pull-secrets":
		return location{role: foreign}, true
	case "custom-resources":
		return bundleCustom(below[1:], base, root), true
	case "statefulsets-errors.json": // the path in some releases
		below[0] = "replicasets"
	}
	if len(below) > 1 {
		return location{role: foreign}, true
	}
	return location{role: objects, scope: inNamespace, namespace: base, bundle: root}.named(below[0]), true
}

func bundleTop(base, root string) location {
	if base == "groups" || base == "resources" {
		return location{role: discovery, directory: root}
	}
	if resource, ok := strings.CutSuffix(base, "-errors"); ok {
		return location{role: failures}.named(resource)
	}
	return location{role: objects, scope: inCluster, bundle: root}.named(base)
}

func bundleCustom(below []string, base, root string) location {
	switch len(below) {
	case 0:
		if base == customErrors {
			return location{role: customFailures, bundle: root}
		}
		if crd, ok := strings.CutSuffix(base, "-errors"); ok {
			return location{role: failures}.named(crd)
		}
		return location{role: objects, scope: inCluster, bundle: root, custom: true}.named(base)
	case 1:
		return location{role: objects, scope: inNamespace, namespace: base, bundle: root, custom: true}.named(below[0])
	default:
		return location{role: foreign}
	}
}

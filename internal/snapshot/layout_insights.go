package snapshot

// insightsKinds are the directories of an Insights archive that hold objects of built-in
// kinds, one in each file, and may leave out what they are.
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

// locateInsights knows the archives of OpenShift's Insights operator:
// `config/node/<name>.json`, `config/pod/<namespace>/<name>.json` and the like. The
// operator takes only the objects that it looks for, such as pods in trouble: nothing in
// the archive is a list, and nothing proves that something is absent.
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

package snapshot

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

package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// sonobuoyRun is what one run of sonobuoy shows about its collection. It lists each kind in each
// namespace separately, writes no file for an empty list, and logs its queries in
// meta/query-time.json. If a query succeeded and has no file, either it found nothing, or the file
// was removed from the dump. These can't be distinguished, so it is a gap.
//
// As in queries.go and queryrecorder.go of github.com/vmware-tanzu/sonobuoy/pkg/discovery.
type sonobuoyRun struct {
	// asked are the queries that succeeded.
	asked []question
	// lists are the files that were read.
	lists []*sighting
	// selector limited all lists. configured is true if the settings were read.
	selector   string
	configured bool
	// plain is true if a list has an object without labels, which hardly any selector matches.
	plain bool
	// unread is true if a part of the input could not be read: missing files then prove nothing.
	unread bool
}

// question is a query: a plural as sonobuoy writes it, and a namespace or "".
type question struct{ resource, namespace string }

// run returns the run of sonobuoy with this root.
func (in *input) run(root string) *sonobuoyRun {
	run := in.runs[root]
	if run == nil {
		run = &sonobuoyRun{}
		if in.runs == nil {
			in.runs = map[string]*sonobuoyRun{}
		}
		in.runs[root] = run
	}
	return run
}

func (run *sonobuoyRun) add(lists []*sighting, objects []*object.Object) {
	run.lists = append(run.lists, lists...)
	run.plain = run.plain || slices.ContainsFunc(objects, func(o *object.Object) bool { return o.Labels == "" })
}

// merge adds the content of another file of the run.
func (run *sonobuoyRun) merge(one *sonobuoyRun) {
	run.asked = append(run.asked, one.asked...)
	run.lists = append(run.lists, one.lists...)
	if one.configured {
		run.selector, run.configured = one.selector, true
	}
	run.plain = run.plain || one.plain
}

// readSettings reads meta/config.json.
func (run *sonobuoyRun) readSettings(raw []byte) error {
	var content struct {
		Filters struct {
			LabelSelector string `json:"LabelSelector"`
		} `json:"Filters"`
	}
	if err := json.Unmarshal(raw, &content); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	run.selector, run.configured = content.Filters.LabelSelector, true
	return nil
}

// readQueries reads sonobuoy's log of queries.
func (r *reader) readQueries(run *sonobuoyRun, raw []byte) error {
	var all []struct {
		Resource  string         `json:"queryobj"`
		Namespace string         `json:"namespace"`
		Error     jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("log of queries: %w", err)
	}
	for _, q := range all {
		if len(q.Error) == 0 || string(q.Error) == "null" {
			run.asked = append(run.asked, question{q.Resource, q.Namespace})
			continue
		}
		text := "sonobuoy could not list it" // most kinds of errors are written as {}
		var content any
		if err := json.Unmarshal(q.Error, &content); err == nil {
			if t := messageText(content); t != "" {
				text = t
			}
		}
		l := location{resource: strings.ToLower(q.Resource), namespace: q.Namespace}
		r.failed = append(r.failed, failure{location: l, reason: reasonOf(text), text: text})
	}
	return nil
}

// run judges a run of sonobuoy after its files were judged as lists. With a selector, all lists are
// incomplete. A query without a file leaves a gap. groups are those that the server serves.
func (j *judge) run(run *sonobuoyRun, groups []metav1.APIGroup) {
	if run.selector != "" {
		text := fmt.Sprintf("sonobuoy listed only objects with the labels %q", run.selector)
		for _, s := range run.lists {
			j.cut(s, text)
		}
		return
	}
	if !run.configured && !run.plain {
		if run.unread {
			for _, s := range run.lists {
				j.cut(s, "the settings of sonobuoy could not be read: it may have been told to list only some")
			}
		}
		return
	}
	if run.unread {
		return
	}
	found, groupsFound := map[question]bool{}, map[string]map[schema.GroupResource]bool{}
	for _, s := range run.lists {
		found[question{s.resource, s.namespace}] = true
		if r, ok := j.named(s.location); ok {
			if groupsFound[s.resource] == nil {
				groupsFound[s.resource] = map[schema.GroupResource]bool{}
			}
			groupsFound[s.resource][object.Storage(r.GroupResource())] = true
		}
	}
	inPlace, known := run.inPlace(), j.knowsGroups(groups)
	for _, q := range run.asked {
		plural := strings.ToLower(q.resource)
		if found[question{plural, q.namespace}] || q.namespace != "" && !inPlace {
			continue
		}
		ambiguous := slices.ContainsFunc(groups, func(g metav1.APIGroup) bool { return slices.Contains(aggregated[g.Name], plural) })
		gr, ok := j.asked(q, groupsFound[plural], known && !ambiguous)
		if r, served := j.resources.Preferred(gr); ok && served {
			at := spot{typeName{r.APIVersion(), r.Kind}, q.namespace}
			j.doubted = append(j.doubted, doubted{[]spot{at}, "sonobuoy asked for it and there is no file: it found none, or the file was left out; if none was left out"})
		}
	}
}

// inPlace reports whether the namespaces of all items match their paths, and there are such items.
// Releases around 0.15 queried one namespace and wrote the results to the directories of all.
func (run *sonobuoyRun) inPlace() bool {
	some := false
	for _, s := range run.lists {
		for _, at := range s.shown {
			if s.scope == inNamespace && at.namespace != s.namespace {
				return false
			}
			some = some || s.scope == inNamespace
		}
	}
	return some
}

// cut records that a list is incomplete.
func (j *judge) cut(s *sighting, text string) {
	if named, ok := j.named(s.location); ok {
		j.coverage.Fail(named.GroupResource(), s.namespace, reason.Partial, text)
	}
	for _, at := range s.shown {
		if r, ok := j.resource(at.typeName); ok {
			j.coverage.Fail(r.GroupResource(), at.namespace, reason.Partial, text)
		}
	}
}

// asked returns the resource of a query. Old releases query built-in kinds and write them as
// `ReplicaSets`. Newer ones query all served resources. If several groups have the plural, they
// query one of them, the same in all namespaces: a file tells which. Without a file there must be
// only one, and all groups must be known.
func (j *judge) asked(q question, found map[schema.GroupResource]bool, known bool) (schema.GroupResource, bool) {
	plural := strings.ToLower(q.resource)
	var candidates []schema.GroupResource
	switch {
	case q.resource == "Nodes": // the health of nodes, not their list
		return schema.GroupResource{}, false
	case q.resource != plural:
		r, ok := builtinNames().resource(location{resource: plural})
		return r.GroupResource(), ok && r.Namespaced == (q.namespace != "")
	case len(found) > 0:
		candidates = slices.Collect(maps.Keys(found))
	case !known:
		return schema.GroupResource{}, false
	default:
		for _, r := range j.resources.All() {
			if gr := object.Storage(r.GroupResource()); r.Name == plural && !slices.Contains(candidates, gr) {
				candidates = append(candidates, gr)
			}
		}
	}
	if len(candidates) != 1 {
		return schema.GroupResource{}, false
	}
	r, ok := j.resources.Preferred(candidates[0])
	return candidates[0], ok && r.Namespaced == (q.namespace != "")
}

// aggregated are common groups that are neither built in nor of definitions, with their plurals
// that can be listed.
var aggregated = map[string][]string{
	"metrics.k8s.io":                {"nodes", "pods"},
	"custom.metrics.k8s.io":         nil,
	"external.metrics.k8s.io":       nil,
	"packages.operators.coreos.com": {"packagemanifests"},
	"subresources.kubevirt.io":      {"virtualmachineinstances", "virtualmachines"},
	"upload.cdi.kubevirt.io":        nil,
}

// knowsGroups reports whether the kinds of all served groups are known, those of custom ones by
// their definitions.
func (j *judge) knowsGroups(groups []metav1.APIGroup) bool {
	if len(groups) == 0 || !j.coverage.covers(object.CRD.GroupResource(), "") {
		return false
	}
	known := map[string]bool{}
	for gr := range builtinNames().full {
		known[gr.Group] = true
	}
	for _, r := range j.resources.All() {
		known[r.Group] = known[r.Group] || r.Custom && !r.Guessed
	}
	for _, g := range groups {
		if _, usual := aggregated[g.Name]; !usual && !known[g.Name] {
			return false
		}
	}
	return true
}

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

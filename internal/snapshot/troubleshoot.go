package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// customErrors is the file that lists the custom resources that a support bundle lacks.
const customErrors = "custom-resources-errors"

// bundleRun is what one support bundle of troubleshoot shows about its collection. The tool writes
// a list of pods and other kinds for each of its namespaces, empty or not. Then it lists the
// instances of all definitions in the cluster and writes those in its namespaces, without a file
// for an empty list. Errors go to a separate file.
//
// As in pkg/collect/cluster_resources.go of github.com/replicatedhq/troubleshoot.
type bundleRun struct {
	// lists are the files that were read, definitions are those in them.
	lists       []*sighting
	definitions []*object.CRDFacts
	// failed are the definitions with instances that could not be listed.
	failed map[schema.GroupResource]bool
	// unclear is true if something else failed, so that a missing file proves nothing.
	unclear bool
}

// bundle returns the support bundle with this root.
func (in *input) bundle(root string) *bundleRun {
	b := in.bundles[root]
	if b == nil {
		b = &bundleRun{failed: map[schema.GroupResource]bool{}}
		if in.bundles == nil {
			in.bundles = map[string]*bundleRun{}
		}
		in.bundles[root] = b
	}
	return b
}

func (b *bundleRun) add(lists []*sighting, objects []*object.Object) {
	b.lists = append(b.lists, lists...)
	for _, o := range objects {
		if d := o.Definition(); d != nil {
			b.definitions = append(b.definitions, d)
		}
	}
}

// merge adds the content of another file of the bundle.
func (b *bundleRun) merge(one *bundleRun) {
	b.lists = append(b.lists, one.lists...)
	b.definitions = append(b.definitions, one.definitions...)
	maps.Copy(b.failed, one.failed)
	b.unclear = b.unclear || one.unclear
}

// readCustomFailures reads the errors of custom resources: messages by `<crd>` or
// `<crd>/<namespace>`, or by another name.
func (r *reader) readCustomFailures(b *bundleRun, raw []byte) error {
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		b.unclear = true
		return fmt.Errorf("list of errors: %w", err)
	}
	for name, message := range content {
		definition, namespace, _ := strings.Cut(name, "/")
		l := location{namespace: namespace}.named(definition)
		if !l.grouped {
			b.unclear = true
			continue
		}
		b.failed[schema.GroupResource{Group: l.group, Resource: l.resource}] = true
		r.addFailure(l, message)
	}
	return nil
}

// bundle judges a support bundle after its files were judged as lists: definitions without a list
// of instances have none. Old releases list none at all.
func (j *judge) bundle(b *bundleRun) {
	found := map[question]bool{}
	var namespaces []string
	collects := false
	for _, s := range b.lists {
		if s.custom {
			collects = true
			found[question{schema.GroupResource{Group: s.group, Resource: s.resource}.String(), s.namespace}] = true
		} else if s.resource == "pods" && s.scope == inNamespace {
			namespaces = append(namespaces, s.namespace)
		}
	}
	if !collects || b.unclear {
		return
	}
	for _, d := range b.definitions {
		gr := schema.GroupResource{Group: d.Group, Resource: d.Plural}
		in := namespaces
		if !d.Namespaced {
			in = []string{""}
		}
		for _, ns := range in {
			if !b.failed[gr] && !found[question{gr.String(), ns}] {
				j.coverage.Add(gr, ns)
			}
		}
	}
}

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

// readFailures reads a `<resource>-errors.json` of a support bundle: an array of messages, or
// messages by namespace. It takes precedence over every list of that resource.
func (r *reader) readFailures(l location, raw []byte) error {
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		return fmt.Errorf("list of errors: %w", err)
	}
	if l.resource == "groups-resources" || l.resource == "groups" || l.resource == "resources" {
		messages, _ := content.([]any)
		for _, m := range messages {
			r.problems = append(r.problems, Problem{Kind: StaleDiscovery, Message: fmt.Sprintf("discovery failed when the dump was taken: %v", m)})
		}
		return nil
	}
	switch content := content.(type) {
	case map[string]any:
		for namespace, message := range content {
			l.namespace = namespace
			r.addFailure(l, message)
		}
	case []any:
		for _, message := range content {
			r.addFailure(l, message)
		}
	case string:
		r.addFailure(l, content)
	}
	return nil
}

func (r *reader) addFailure(l location, message any) {
	text := strings.TrimSpace(messageText(message))
	if text == "" {
		return
	}
	r.failed = append(r.failed, failure{location: l, reason: reasonOf(text), text: text})
}

// messageText flattens the forms in which tools write an error: a text, several texts, or a Status
// of the API.
func messageText(message any) string {
	switch m := message.(type) {
	case string:
		return m
	case []any:
		return strings.Join(object.Mapped(m, messageText), "; ")
	case map[string]any:
		for _, key := range []string{"message", "ErrStatus", "error"} {
			if inner, ok := m[key]; ok {
				return messageText(inner)
			}
		}
		return strings.Join(slices.Sorted(maps.Keys(m)), "; ")
	case nil:
		return ""
	default:
		return fmt.Sprint(m)
	}
}

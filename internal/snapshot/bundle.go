package snapshot

import (
	"fmt"
	"maps"
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
		switch {
		case b.failed[gr]:
		case !d.Namespaced:
			j.none(gr, "", found)
		default:
			for _, ns := range namespaces {
				j.none(gr, ns, found)
			}
		}
	}
}

// none records that a listed resource without a file has no instances.
func (j *judge) none(gr schema.GroupResource, namespace string, found map[question]bool) {
	if !found[question{gr.String(), namespace}] {
		j.coverage.Add(gr, namespace)
	}
}

package snapshot

import (
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// customErrors is the file that says which custom resources a support bundle lacks.
const customErrors = "custom-resources-errors"

// bundleRun is what one support bundle of troubleshoot says of itself. It lists the pods and
// other kinds of each of its namespaces, and writes each list, empty or not. After that it
// lists the instances of all definitions in the cluster, and writes those in its namespaces,
// without a file for none, and what failed to a file of errors.
//
// As in pkg/collect/cluster_resources.go of github.com/replicatedhq/troubleshoot.
type bundleRun struct {
	// lists are the files that were read, definitions those in them.
	lists       []*sighting
	definitions []*object.CRDFacts
	// failed are the definitions whose instances could not be listed.
	failed map[schema.GroupResource]bool
	// unclear tells that something else failed, so that a missing file says nothing.
	unclear bool
}

// bundle is the support bundle with this root.
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

// merge adds what another file of the bundle says.
func (b *bundleRun) merge(one *bundleRun) {
	b.lists = append(b.lists, one.lists...)
	b.definitions = append(b.definitions, one.definitions...)
	maps.Copy(b.failed, one.failed)
	b.unclear = b.unclear || one.unclear
}

// readCustomFailures reads the errors of custom resources: messages by `<crd>` or
// `<crd>/<namespace>`, or by what else was being done.
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

// bundle judges a support bundle, whose files have been judged as lists: definitions of which
// it lists no instances have none. Old releases list none of any.
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

// none says that a resource that was asked for has no instances where no file is.
func (j *judge) none(gr schema.GroupResource, namespace string, found map[question]bool) {
	if !found[question{gr.String(), namespace}] {
		j.coverage.Add(gr, namespace)
	}
}

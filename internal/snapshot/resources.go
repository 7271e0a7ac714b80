package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// kindSeen is what the objects of one kind show about their resource.
type kindSeen struct {
	namespaced bool
	// plural is the resource name in a path, "" if none has it.
	plural string
}

// resourcesOf returns the served resources: those of discovery documents, or else the built-in ones
// with older versions; those of the CustomResourceDefinitions; and for the rest guesses by the
// objects. (spec §11.2, U2)
//
// Complete discovery is the truth: a definition that it doesn't list is not served, and the
// collector cannot map its kind.
func resourcesOf(rs *object.Resources, older, whole bool, objects []*object.Object, seen map[typeName]*kindSeen) *object.Resources {
	definitions := definitionsOf(objects)
	rs = markCustom(rs, definitions)
	if !whole {
		for _, d := range definitions {
			addDefinition(rs, d)
		}
	}
	// The best version comes first: the first one added is preferred.
	for _, name := range slices.SortedFunc(maps.Keys(seen), compareTypes) {
		if r, err := rs.For(name.apiVersion, name.kind); err == nil && r.Served() {
			continue
		}
		rs.Add(guess(rs, name, *seen[name], older))
	}
	return rs
}

func compareTypes(a, b typeName) int {
	ag, av := object.SplitAPIVersion(a.apiVersion)
	bg, bv := object.SplitAPIVersion(b.apiVersion)
	return cmp.Or(strings.Compare(ag, bg), strings.Compare(a.kind, b.kind), version.CompareKubeAwareVersionStrings(bv, av), strings.Compare(av, bv))
}

// definitionsOf returns the facts of the CustomResourceDefinitions in a fixed order. Of a
// definition that was read twice, the one with the newest resourceVersion counts.
func definitionsOf(objects []*object.Object) []*object.CRDFacts {
	newest := map[schema.GroupResource]*object.Object{}
	for _, o := range objects {
		d := o.Definition()
		if d == nil || d.Kind == "" || d.Plural == "" || d.Group == "" {
			continue
		}
		gr := schema.GroupResource{Group: d.Group, Resource: d.Plural}
		if have := newest[gr]; have == nil || compareVersions(o.ResourceVersion, have.ResourceVersion) >= 0 {
			newest[gr] = o
		}
	}
	definitions := make([]*object.CRDFacts, 0, len(newest))
	for _, o := range newest {
		definitions = append(definitions, o.Definition())
	}
	slices.SortFunc(definitions, func(a, b *object.CRDFacts) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Plural, b.Plural))
	})
	return definitions
}

// addDefinition adds the served versions of a custom resource, the preferred one
// first: discovery orders them by the version's own priority, not by the order
// of the definition.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go DiscoveryController.sync,
// sortGroupDiscoveryByKubeAwareVersion.
func addDefinition(rs *object.Resources, d *object.CRDFacts) {
	if _, ok := rs.Preferred(schema.GroupResource{Group: d.Group, Resource: d.Plural}); ok {
		return
	}
	var served []string
	for _, v := range d.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	slices.SortStableFunc(served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	for _, v := range served {
		rs.Add(object.Resource{
			Group: d.Group, Version: v, Name: d.Plural, Kind: d.Kind, Singular: d.Singular,
			ShortNames: d.ShortNames, Categories: d.Categories, Namespaced: d.Namespaced,
			Verbs: object.AllVerbs, Custom: true,
		})
	}
}

// markCustom sets Custom for discovered resources that a definition declares. Without definitions,
// the group decides.
func markCustom(rs *object.Resources, definitions []*object.CRDFacts) *object.Resources {
	declared := map[schema.GroupResource]bool{}
	for _, d := range definitions {
		declared[schema.GroupResource{Group: d.Group, Resource: d.Plural}] = true
	}
	marked := &object.Resources{}
	for _, r := range rs.All() {
		r.Custom = r.Custom || declared[r.GroupResource()] || object.MayBeCustom(r.Group)
		marked.Add(r)
	}
	return marked
}

// guess returns the resource of a kind that only objects show.
func guess(rs *object.Resources, name typeName, seen kindSeen, older bool) object.Resource {
	group, v := object.SplitAPIVersion(name.apiVersion)
	for _, r := range slices.Concat(rs.All(), metrics) {
		if r.Group == group && strings.EqualFold(r.Kind, name.kind) && r.Served() {
			r.Version, r.Guessed = v, true
			return r
		}
	}
	if older {
		for _, o := range olderVersions {
			if o.apiVersion == name.apiVersion && strings.EqualFold(o.kind, name.kind) {
				r := o.resource()
				r.Guessed = true
				return r
			}
		}
	}
	return object.Resource{Group: group, Version: v, Name: cmp.Or(seen.plural, guessPlural(name.kind)), Kind: name.kind,
		Namespaced: seen.namespaced, Verbs: object.AllVerbs, Guessed: true, Custom: object.MayBeCustom(group)}
}

// guessPlural returns the English plural of a kind without a known resource: gateways,
// elasticsearches.
func guessPlural(kind string) string {
	name := strings.ToLower(kind)
	for _, end := range []string{"ay", "ey", "iy", "oy", "uy"} {
		if strings.HasSuffix(name, end) {
			return name + "s"
		}
	}
	for _, end := range []string{"ch", "sh", "x", "z"} {
		if strings.HasSuffix(name, end) {
			return name + "es"
		}
	}
	guessed, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	return guessed.Resource
}

// apiService is the spec of an APIService. There is one for each served version: API servers create
// those of their own.
type apiService struct {
	Spec struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		// Service is set if another server serves it.
		Service *struct{} `json:"service"`
	} `json:"spec"`
}

func (s *apiService) groupVersion() string { return groupVersion(s.Spec.Group, s.Spec.Version) }

// localVersions returns the group versions that a server serves itself.
func localVersions(services []apiService) []string {
	var versions []string
	for _, s := range services {
		if s.Spec.Service == nil {
			versions = append(versions, s.groupVersion())
		}
	}
	return versions
}

// storeless are the groups without stored objects.
var storeless = []string{"authentication.k8s.io", "authorization.k8s.io"}

// metrics are the resources of the metrics server, which nearly every cluster has: values that are
// computed on request, own nothing and are never deleted.
var metrics = []object.Resource{
	{Group: "metrics.k8s.io", Version: "v1beta1", Name: "nodes", Kind: "NodeMetrics", Verbs: object.VerbsOf([]string{"get", "list"})},
	{Group: "metrics.k8s.io", Version: "v1beta1", Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: object.VerbsOf([]string{"get", "list"})},
}

// servedBy returns the resources that a server serves: the built-in ones in the versions of its
// APIServices, and those of definitions. missing are versions with unknown kinds. Without
// APIServices, all built-in ones count as served.
func servedBy(services []apiService, definitions []*object.CRDFacts) (served *object.Resources, missing []Missing) {
	served = BuiltinResources()
	says := map[string]bool{object.APIService.APIVersion(): true} // serving APIServices needs none
	for _, s := range services {
		says[s.groupVersion()] = s.Spec.Service == nil
	}
	if len(services) > 0 {
		said := &object.Resources{}
		for _, r := range served.All() {
			if says[r.APIVersion()] {
				said.Add(r)
			}
		}
		for _, o := range olderVersions {
			if says[o.apiVersion] {
				said.Add(o.resource())
			}
		}
		served = said
	}
	told := map[string]bool{}
	for _, d := range definitions {
		if d.Established {
			addDefinition(served, d)
		}
		for _, v := range d.Versions {
			told[groupVersion(d.Group, v.Name)] = true
		}
	}
	if local, ok := says[metrics[0].APIVersion()]; ok && !local {
		for _, r := range metrics {
			served.Add(r)
		}
	}
	for _, r := range served.All() {
		told[r.APIVersion()] = true
	}
	for _, s := range services {
		switch gv := s.groupVersion(); {
		case s.Spec.Service != nil && !told[gv]:
			missing = append(missing, Missing{gv, "another server serves them, which keeps its objects elsewhere"})
		case s.Spec.Service == nil && !told[gv] && !slices.Contains(storeless, s.Spec.Group):
			missing = append(missing, Missing{gv, "they are of another version of Kubernetes"})
		}
	}
	return served, missing
}

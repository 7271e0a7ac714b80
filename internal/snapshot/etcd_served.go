package snapshot

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

func apiServiceOf(text []byte) (s apiService, err error) {
	err = json.Unmarshal(text, &s)
	return s, err
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

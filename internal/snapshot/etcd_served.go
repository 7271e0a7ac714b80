package snapshot

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// apiService is what an APIService says of a version of a group. There is one for each version
// that is served: API servers make them for themselves.
type apiService struct {
	Spec struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		// Service is somebody else who serves it.
		Service *struct{} `json:"service"`
	} `json:"spec"`
}

func apiServiceOf(text []byte) (s apiService, err error) {
	err = json.Unmarshal(text, &s)
	return s, err
}

func (s *apiService) groupVersion() string { return groupVersion(s.Spec.Group, s.Spec.Version) }

// localVersions are the group versions that a server serves itself.
func localVersions(services []apiService) []string {
	var versions []string
	for _, s := range services {
		if s.Spec.Service == nil {
			versions = append(versions, s.groupVersion())
		}
	}
	return versions
}

// storeless are the groups of which nothing is ever stored.
var storeless = []string{"authentication.k8s.io", "authorization.k8s.io"}

// metrics are what the metrics server serves, as nearly every cluster has it: numbers that
// are made when they are asked for, and neither own anything nor are deleted.
var metrics = []object.Resource{
	{Group: "metrics.k8s.io", Version: "v1beta1", Name: "nodes", Kind: "NodeMetrics", Verbs: object.VerbsOf([]string{"get", "list"})},
	{Group: "metrics.k8s.io", Version: "v1beta1", Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: object.VerbsOf([]string{"get", "list"})},
}

// servedBy are the resources that a server serves: of those that come with it the versions that
// it says, and what definitions declare. Missing are versions of which nothing tells the kinds.
// Where a server says nothing, all that come with it count as served.
func servedBy(services []apiService, definitions []*object.CRDFacts) (served *object.Resources, missing []Missing) {
	served = BuiltinResources()
	says := map[string]bool{object.APIService.APIVersion(): true} // who serves them needs none
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

package snapshot

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// onlyStored returns the snapshot that was read back if it is the only content; nil otherwise.
func (r *reader) onlyStored() *Snapshot {
	if len(r.stored) != 1 || len(r.objects) > 0 || len(r.sightings) > 0 || len(r.failed) > 0 ||
		len(r.problems) > 0 || len(r.passed.remarks()) > 0 || len(r.documents.lists) > 0 || r.source.KubernetesVersion != "" {
		return nil
	}
	return r.stored[0]
}

// takeStored merges a snapshot in our own format with the content of other files. Its resources
// count as discovery.
func (r *reader) takeStored(s *Snapshot, coverage *Coverage, discovered **object.Resources) {
	r.objects = append(r.objects, s.Objects...)
	for _, o := range s.Objects {
		r.see(spot{typeName{o.APIVersion, o.Kind}, o.Namespace}, location{})
	}
	coverage.merge(s.coverage)
	r.problems = append(r.problems, s.Problems...)
	r.at(cmp.Or(s.latest, s.Source.Seconds()))
	r.source.Ignored += s.Source.Ignored
	r.source.Discovered = r.source.Discovered || s.Source.Discovered
	r.source.KubernetesVersion = newer(r.source.KubernetesVersion, s.Source.KubernetesVersion)
	if len(r.source.VersionBounds.From) == 0 {
		r.source.VersionBounds = s.Source.VersionBounds
	}
	if r.source.ClusterUID == "" {
		r.source.ClusterUID = s.Source.ClusterUID
	}
	if r.source.TakenAt == "" || s.Source.TakenAt != "" && s.Source.TakenAt < r.source.TakenAt {
		r.source.TakenAt = s.Source.TakenAt
	}
	if *discovered == nil {
		*discovered = &object.Resources{}
	}
	for _, res := range s.Resources.All() {
		if !hasVersion(*discovered, res) {
			(*discovered).Add(res)
		}
	}
}

func hasVersion(rs *object.Resources, r object.Resource) bool {
	if _, ok := rs.Preferred(schema.GroupResource{Group: r.Group, Resource: r.Name}); !ok {
		return false
	}
	return slices.ContainsFunc(rs.All(), func(have object.Resource) bool {
		return have.Group == r.Group && have.Version == r.Version && have.Name == r.Name
	})
}

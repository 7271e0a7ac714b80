package snapshot

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Missing is a group version with resources that a server could not name.
type Missing struct {
	GroupVersion string
	// Why is a text for people.
	Why string
}

// EveryResource is the Resource of a Gap for a group version that could not be discovered.
const EveryResource = "*"

// Listed returns a snapshot of the objects that a live server has listed. served are the discovered
// resources. missing are the group versions that discovery could not name: each is a gap. As with
// discovery documents, a definition adds its kinds only if discovery is incomplete. Listed takes
// ownership of the objects: they must not be shared.
func Listed(objects []*object.Object, served *object.Resources, missing []Missing, coverage *Coverage, source Source) (*Snapshot, error) {
	source.Discovered = true
	s := &Snapshot{
		Objects:   objects,
		Resources: resourcesOf(served, false, len(missing) == 0, objects, nil),
		Source:    source,
		coverage:  coverage,
	}
	for _, m := range missing {
		s.Problems = append(s.Problems, Problem{Kind: StaleDiscovery,
			Message: fmt.Sprintf("the server cannot name the resources of %q: %s", m.GroupVersion, m.Why)})
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	for _, m := range missing {
		s.Gaps = append(s.Gaps, Gap{APIVersion: m.GroupVersion, Resource: EveryResource, Why: why(reasonOf(m.Why), "discovery: "+m.Why)})
	}
	sortGaps(s.Gaps)
	return s, nil
}

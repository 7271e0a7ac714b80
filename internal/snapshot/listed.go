package snapshot

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Missing is a group version whose resources a server could not name.
type Missing struct {
	GroupVersion string
	// Why is a text for people.
	Why string
}

// EveryResource stands in a Gap for all resources of a group version that could
// not be discovered.
const EveryResource = "*"

// Listed makes a snapshot of what a live server has listed. Served are the
// resources that discovery named, and missing what it could not name: a gap each.
// As from discovery documents, a definition adds its kinds only where discovery is
// not whole. The objects are taken over: nobody else may have them.
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

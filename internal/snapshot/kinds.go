package snapshot

// KnowsAllKinds reports whether the snapshot holds the discovery documents of its
// server, so that a kind that does not map is a kind that is not served. Without
// them such a kind is merely unknown.
func (s *Snapshot) KnowsAllKinds() bool { return s.Source.Discovered && !s.missingDiscovery() }

// missingDiscovery reports whether the discovery documents are known to be
// incomplete.
func (s *Snapshot) missingDiscovery() bool {
	for _, p := range s.Problems {
		if p.Kind == StaleDiscovery {
			return true
		}
	}
	return false
}

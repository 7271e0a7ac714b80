package deleters

import "testing"

// A kind that was listed is not settled before a watch of it has begun: it may be one that may
// not be watched.
func TestNotWatchedYet(t *testing.T) {
	s := start(t, configMap("one", ""))
	s.settled()
	s.watches.Broken(configMaps)
	has(t, s.unsettled("left to do: configmaps is not watched yet"), "left to do: configmaps is not watched yet")
	s.watches.Watching(configMaps)
	s.settled()
}

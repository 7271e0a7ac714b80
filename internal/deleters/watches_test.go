package deleters

import "testing"

// A listed kind is not settled before its watch has begun, because the watch may be forbidden.
func TestNotWatchedYet(t *testing.T) {
	s := start(t, configMap("one", ""))
	s.settled()
	s.watches.Broken(configMaps)
	has(t, s.unsettled("left to do: configmaps is not watched yet"), "left to do: configmaps is not watched yet")
	s.watches.Watching(configMaps)
	s.settled()
}

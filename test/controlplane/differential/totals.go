package differential

// Totals is what one test compared with a control plane, over all cells. The flag
// -totals names a file for those of a run.
type Totals struct {
	// Release is the version of Kubernetes of the control plane.
	Release string `json:"release"`
	// Worlds is how many states were drawn, or read from files.
	Worlds int `json:"worlds"`
	// Phases is how often a world was compared when it had come to rest, and Objects how
	// many objects that were.
	Phases  int `json:"phases"`
	Objects int `json:"objects"`
	// Wrong is how many phases ended in a way that is neither predicted nor that of any
	// other schedule.
	Wrong int `json:"wrong"`
}

package report

// Exploration says which other runs of the same request were simulated: under other schedules, and
// with the state of a garbage collector that has been running for a while. The reference run begins
// with a collector that has just started.
type Exploration struct {
	State ExplorationState `json:"state"`
	// Objects is the number of objects that the request can reach.
	Objects int `json:"objects"`
	// Requested is true if the user set the number of schedules. Otherwise a few are tried, or none
	// if they cannot change anything.
	Requested bool `json:"requested,omitempty"`
	// Schedules and Memories are the numbers of runs with other schedules and other collector
	// states.
	Schedules int `json:"schedules,omitempty"`
	Memories  int `json:"memories,omitempty"`
}

// ExplorationState says whether other runs were tried.
type ExplorationState string

// The states of an exploration.
const (
	// Explored: other runs were tried. Effects with another outcome in one of them are contested.
	Explored ExplorationState = "Explored"
	// OneEnd: none was tried, because no schedule and no collector state can make a difference.
	OneEnd ExplorationState = "OneEnd"
	// TooLarge: none was tried, because the request can reach too many objects.
	TooLarge ExplorationState = "TooLarge"
)

// Otherwise is another possible outcome of an object, and what it depends on.
type Otherwise struct {
	Outcome Outcome `json:"outcome"`
	Because Hinge   `json:"because"`
	// Message is that outcome as a sentence.
	Message string `json:"message"`
	// Remembered is what the garbage collector must have seen for it; empty for Timing.
	Remembered string `json:"remembered,omitempty"`
}

// Hinge is what another outcome depends on.
type Hinge string

// The hinges.
const (
	// Timing: the order of requests by the user, the garbage collector, the API server and other
	// controllers.
	Timing Hinge = "schedule"
	// Memory: what the garbage collector has seen since it was started.
	Memory Hinge = "memory"
)

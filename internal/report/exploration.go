package report

// Exploration says which other runs of the same request were tried: under other
// schedules, and with what a garbage collector may remember that has been running for
// a while. The reference run begins with one that has just started.
type Exploration struct {
	State ExplorationState `json:"state"`
	// Objects is the number of objects that the request can reach.
	Objects int `json:"objects"`
	// Requested: so many schedules were asked for. Otherwise it is a few, and none where
	// that says enough.
	Requested bool `json:"requested,omitempty"`
	// Schedules and Memories are the numbers of runs that were tried.
	Schedules int `json:"schedules,omitempty"`
	Memories  int `json:"memories,omitempty"`
}

// ExplorationState is what came of exploring.
type ExplorationState string

// The states of an exploration.
const (
	// Explored: other runs were tried. Effects that end otherwise in one are contested.
	Explored ExplorationState = "Explored"
	// OneEnd: nothing was tried, for no schedule and no memory can make a difference.
	OneEnd ExplorationState = "OneEnd"
	// TooLarge: nothing was tried, because the request can reach too many objects.
	TooLarge ExplorationState = "TooLarge"
)

// Otherwise is another end of an object, and what it depends on.
type Otherwise struct {
	Outcome Outcome `json:"outcome"`
	Because Hinge   `json:"because"`
	// Message says in one sentence what becomes of the object then.
	Message string `json:"message"`
	// Remembered says what the garbage collector has to remember; empty for Timing.
	Remembered string `json:"remembered,omitempty"`
}

// Hinge is what an end depends on.
type Hinge string

// The hinges.
const (
	// Timing: the order in which the garbage collector, the API server, other controllers
	// and the requests themselves come.
	Timing Hinge = "schedule"
	// Memory: what the garbage collector has seen since it was started.
	Memory Hinge = "memory"
)

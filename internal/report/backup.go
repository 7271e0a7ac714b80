package report

// Backup is a backup in a list of them. It is shown, and is no document of its own.
type Backup struct {
	Name string
	// Command is the kind of command that made it, Objects how many it has.
	Command string
	Objects int
	// Server is the API server of its cluster.
	Server string
	// Unreadable says why nothing else is known.
	Unreadable string
}

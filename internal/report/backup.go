package report

// Backups are the backups that there are on this machine, the newest first.
type Backups struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Directory is where they are.
	Directory string   `json:"directory"`
	Backups   []Backup `json:"backups"`
}

// Backup is a backup in a list of them.
type Backup struct {
	Name string `json:"name"`
	// Created is when the run began that made it, in RFC 3339; absent if it cannot be read.
	Created string `json:"created,omitempty"`
	// Command is the kind of command that made it.
	Command string `json:"command,omitempty"`
	// Objects is how many objects it has, Main the one that says most about what was taken: a
	// namespace, else a CRD, else the first.
	Objects int  `json:"objects"`
	Main    *Ref `json:"main,omitempty"`
	// Server is the API server of its cluster, ClusterUID the uid of namespace kube-system there.
	Server     string `json:"server,omitempty"`
	ClusterUID string `json:"clusterUID,omitempty"`
	// Undone is when the last undo of it began, in RFC 3339; absent if there was none. Partly tells
	// that something was not created again that undos of it were to create.
	Undone string `json:"undone,omitempty"`
	Partly bool   `json:"partly,omitempty"`
	// Unreadable says why nothing else is known.
	Unreadable string `json:"unreadable,omitempty"`
}

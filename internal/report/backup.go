package report

// Backups are the backups on this machine, the newest first.
type Backups struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Directory is where they are.
	Directory string   `json:"directory"`
	Backups   []Backup `json:"backups"`
}

// Backup is an entry of the list of backups.
type Backup struct {
	Name string `json:"name"`
	// Created is when the run that made it began, in RFC 3339; absent if it cannot be read.
	Created string `json:"created,omitempty"`
	// Command is the kind of command that made it.
	Command string `json:"command,omitempty"`
	// Objects is the number of objects in it. Main is the one that describes it best: a namespace,
	// else a CRD, else the first.
	Objects int  `json:"objects"`
	Main    *Ref `json:"main,omitempty"`
	// Server is the API server of its cluster, ClusterUID the uid of namespace kube-system there.
	Server     string `json:"server,omitempty"`
	ClusterUID string `json:"clusterUID,omitempty"`
	// Undone is when the last undo of it began, in RFC 3339; absent if there was none. Partly is
	// true if its undos did not create everything that they were to create.
	Undone string `json:"undone,omitempty"`
	Partly bool   `json:"partly,omitempty"`
	// Unreadable is why the other fields are unknown.
	Unreadable string `json:"unreadable,omitempty"`
}

package object

import "strings"

// Printed is what the API server prints of an object in the columns that people look at
// first; empty where it prints nothing. It says nothing of what exists.
type Printed struct{ Ready, Status string }

// Unready reports whether it says that an object does not do its work. A pod that has done
// its work does not have to be ready.
func (p Printed) Unready() bool {
	switch p.Status {
	case "Completed", "Succeeded", "Complete":
		return false
	case "Failed", "Error", "Lost":
		return true
	}
	if strings.HasPrefix(p.Status, "NotReady") {
		return true // a node, which may have SchedulingDisabled besides
	}
	if ready, all, ok := strings.Cut(p.Ready, "/"); ok {
		return ready != all
	}
	return p.Ready == "False" || p.Ready == "false"
}

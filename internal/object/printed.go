package object

import "strings"

// Printed are the columns READY and STATUS that the API server prints for an object; "" if it
// prints none. It is no evidence of existence.
type Printed struct{ Ready, Status string }

// Unready reports whether the columns say that the object doesn't work. A completed pod need not be
// ready.
func (p Printed) Unready() bool {
	switch p.Status {
	case "Completed", "Succeeded", "Complete":
		return false
	case "Failed", "Error", "Lost":
		return true
	}
	if strings.HasPrefix(p.Status, "NotReady") {
		return true // a node, perhaps also with SchedulingDisabled
	}
	if ready, all, ok := strings.Cut(p.Ready, "/"); ok {
		return ready != all
	}
	return p.Ready == "False" || p.Ready == "false"
}

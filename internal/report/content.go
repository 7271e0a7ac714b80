package report

// ContentCount counts the objects of a kind in a namespace that are alike to a person.
type ContentCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Role       Role   `json:"role"`
	Count      int    `json:"count"`
}

// Role is what an object in a namespace is to a person who asks what is in there.
type Role string

// The roles.
const (
	// WorkloadRole: what runs, and what makes it run.
	WorkloadRole Role = "Workload"
	// DataRole: PVCs, Secrets and custom resources.
	DataRole Role = "Data"
	// OtherRole: everything else that somebody has made.
	OtherRole Role = "Other"
	// GeneratedRole: Events, and what the cluster makes by itself and would make again.
	GeneratedRole Role = "Generated"
)

// Roles lists the roles in the order in which they are shown.
func Roles() []Role { return []Role{WorkloadRole, DataRole, OtherRole, GeneratedRole} }

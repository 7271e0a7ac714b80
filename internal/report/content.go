package report

// ContentCount counts the objects of one kind and role in a namespace.
type ContentCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Role       Role   `json:"role"`
	Count      int    `json:"count"`
}

// Role is the purpose of an object, as far as it matters when a namespace is deleted.
type Role string

// The roles.
const (
	// WorkloadRole: pods, and the objects that create pods.
	WorkloadRole Role = "Workload"
	// DataRole: PVCs, Secrets and custom resources.
	DataRole Role = "Data"
	// OtherRole: everything else that was created on purpose.
	OtherRole Role = "Other"
	// GeneratedRole: Events, and objects that the cluster creates by itself and would create again.
	GeneratedRole Role = "Generated"
)

// Roles returns the roles in display order.
func Roles() []Role { return []Role{WorkloadRole, DataRole, OtherRole, GeneratedRole} }

package object

// Job returns nil unless the object is a Job and the dump has its spec.
func (o *Object) Job() *JobFacts {
	f, _ := o.lifecycle().Facts.(*JobFacts)
	return f
}

// JobFacts are the fields of a Job that decide about the tracking finalizer of its pods
// (spec §7.1).
type JobFacts struct {
	// Finished is true if the Job has the condition Complete or Failed.
	Finished bool `json:"finished,omitzero"`
	// ManagedBy is spec.managedBy; "" means the Job controller.
	ManagedBy string `json:"managedBy,omitzero"`
}

// builtInManager is the Job controller's name in spec.managedBy.
//
// Upstream: api/batch/v1/types.go JobControllerName.
const builtInManager = "kubernetes.io/job-controller"

// Elsewhere reports whether a controller other than Kubernetes' own manages the Job.
func (j *JobFacts) Elsewhere() bool { return j.ManagedBy != "" && j.ManagedBy != builtInManager }

func (j *JobFacts) store(s *StoredFacts) { s.Job = j }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (j *JobFacts) Share(text func(string) string) { j.ManagedBy = text(j.ManagedBy) }

func (j *JobFacts) equal(x Facts) bool {
	y, ok := x.(*JobFacts)
	return ok && *j == *y
}

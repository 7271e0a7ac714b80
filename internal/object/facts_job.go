package object

// Job is nil unless the object is a Job whose dump showed the spec.
func (o *Object) Job() *JobFacts {
	f, _ := o.lifecycle().Facts.(*JobFacts)
	return f
}

// JobFacts are what keeps the tracking finalizer on the pods of a Job
// (spec §7.1).
type JobFacts struct {
	// Finished tells that the Job has the condition Complete or Failed.
	Finished bool `json:"finished,omitzero"`
	// ManagedBy is spec.managedBy; empty for the Job controller.
	ManagedBy string `json:"managedBy,omitzero"`
}

// builtInManager is the name of the Job controller in spec.managedBy.
//
// Upstream: api/batch/v1/types.go JobControllerName.
const builtInManager = "kubernetes.io/job-controller"

// Elsewhere reports whether a controller other than the one of Kubernetes manages
// the Job.
func (j *JobFacts) Elsewhere() bool { return j.ManagedBy != "" && j.ManagedBy != builtInManager }

func (j *JobFacts) store(s *StoredFacts) { s.Job = j }

// Share replaces strings that repeat over many objects by what text returns for them.
func (j *JobFacts) Share(text func(string) string) { j.ManagedBy = text(j.ManagedBy) }

func (j *JobFacts) equal(x Facts) bool {
	y, ok := x.(*JobFacts)
	return ok && *j == *y
}

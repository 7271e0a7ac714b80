package outcome

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Outcome is what became of one object in one run, and the facts behind it.
type Outcome struct {
	Track  *Track
	Result report.Outcome
	Reason string
	// Because are the objects that decide.
	Because []object.Ref
	Blocked *report.BlockedBy
	// Removed are the references that went.
	Removed          []object.Ref
	Assumptions      []string
	AlreadyHappening bool
	// Anyway: it would have happened without the seed, too, and follows from it.
	Anyway          bool
	DependsOnTiming bool
	// Ends are the others that were found of a contested object.
	Ends   []End
	Detail string
	// open: something that is not in the snapshot may hold the object, too.
	open bool
	// late is who should long have gone on with it, where others may hold it as well;
	// lingering tells that it waits for something that such a one may yet delete.
	late      *Standstill
	lingering bool
}

// Outcomes are the outcomes of a run, by the keys of the tracks.
type Outcomes map[types.UID]*Outcome

// Of is the outcome of an object; nil if it has none.
func (j *Judge) Of(all Outcomes, r object.Ref) *Outcome {
	if out := all[j.Tracks.Key(r)]; out != nil && out.Track.First.Ref == r {
		return out
	}
	return nil
}

// MarkUnknown turns an outcome into Unknown.
func (out *Outcome) MarkUnknown(reason reason.Code) {
	out.Result, out.Reason = report.Unknown, string(reason)
}

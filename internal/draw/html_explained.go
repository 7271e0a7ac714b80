package draw

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// explained is the content of an explanation in addition to its drawing.
type explained struct {
	// Object is the number of the explained object's box.
	Object int `json:"object"`
	// WaitsFor and TakenBy are sentences; TakersUntried counts the deletes that were not tried.
	WaitsFor      []string `json:"waitsFor"`
	TakenBy       []string `json:"takenBy"`
	TakersUntried int      `json:"takersUntried,omitempty"`
	Remedies      []remedy `json:"remedies"`
}

type remedy struct {
	Command string `json:"command"`
	Effect  string `json:"effect"`
}

// explainedBy returns nil without an explanation, or if its object has no box.
func explainedBy(d Document) *explained {
	e := d.Explanation
	if e == nil {
		return nil
	}
	box := slices.IndexFunc(d.Scene.Boxes, func(b Box) bool { return slices.Contains(b.Refs, e.Object) })
	if box < 0 {
		return nil
	}
	x := &explained{Object: box, WaitsFor: []string{}, TakenBy: render.Takers(e), TakersUntried: e.TakersUntried, Remedies: []remedy{}}
	for i := range e.WaitsFor {
		x.WaitsFor = append(x.WaitsFor, e.WaitsFor[i].Message)
	}
	for _, r := range e.Remedies {
		x.Remedies = append(x.Remedies, remedy{r.Command, render.Consequence(r)})
	}
	return x
}

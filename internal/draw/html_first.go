package draw

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// dataAmong lists the boxes of objects with data that go, or may go, by number: volumes,
// then custom resources, then Secrets.
func dataAmong(boxes []Box, p *report.Plan) []int {
	if p == nil {
		return nil
	}
	type kindOf struct{ apiVersion, kind string }
	holds, goes := map[kindOf]report.Data{}, map[report.Ref]bool{}
	for _, c := range p.Summary.ByKind {
		holds[kindOf{c.APIVersion, c.Kind}] = c.Data
	}
	order := []report.Data{report.VolumeData, report.CustomData, report.SecretData}
	held := func(r *report.Ref) report.Data { return holds[kindOf{r.APIVersion, r.Kind}] }
	for i := range p.Effects {
		if e := &p.Effects[i]; slices.Contains(order, held(&e.Object)) {
			goes[e.Object] = mayGo(e)
		}
	}
	var data []int
	for i := range boxes {
		if r := &boxes[i].Refs[0]; slices.Contains(order, held(r)) && goes[*r] {
			data = append(data, i)
		}
	}
	slices.SortStableFunc(data, func(a, b int) int {
		return cmp.Compare(slices.Index(order, held(&boxes[a].Refs[0])), slices.Index(order, held(&boxes[b].Refs[0])))
	})
	return data
}

// mayGo reports whether an object goes, or may, be it only when a finalizer is removed.
func mayGo(e *report.Effect) bool {
	switch e.Outcome {
	case report.Deleted, report.Blocked, report.Unknown:
		return true
	default:
		return e.Later == report.Deleted || e.Later == report.Unknown
	}
}

// quietAmong lists the boxes that a page hides until somebody asks: objects that come and
// go by themselves, with which nothing happens but what happens to what they are about.
// What was asked about is not among them, nor what owns something; and where there is
// nothing else to see, nothing is.
func quietAmong(s *Scene, asked int) []int {
	owns := make([]bool, len(s.Boxes))
	for i := range s.Arrows {
		owns[s.Arrows[i].Owner] = true
	}
	var quiet []int
	for i := range s.Boxes {
		if b := &s.Boxes[i]; !b.Target && i != asked && !owns[i] && comesByItself(b.Refs[0]) && unremarkable(b.Look) {
			quiet = append(quiet, i)
		}
	}
	if len(quiet) == len(s.Boxes) {
		return nil
	}
	return quiet
}

func unremarkable(l Look) bool {
	return l == Look(report.Deleted) || l == Look(report.Kept) || l == Plain
}

// comesByItself reports whether an object is of those that a person seldom looks for:
// Events, and what Kubernetes generates.
func comesByItself(r report.Ref) bool {
	return object.Ref(r).IsEvent() || object.Ref(r).Generated()
}

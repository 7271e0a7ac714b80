package doctor

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// verdict returns the verdict for the findings, and the reasons for it.
func (e *examiner) verdict(complete bool) (report.CollectorVerdict, []report.CheckupReason) {
	counts := map[reason.Code]int{}
	for _, f := range e.findings {
		counts[reason.Code(f.Code)]++
	}
	reasons := []report.CheckupReason{}
	heaviest := remark
	for w := against; w > remark; w-- {
		for _, m := range reason.Doctor.Meanings {
			if n := counts[m.Code]; n > 0 && signs[m.Code].weight == w {
				heaviest = max(heaviest, w)
				reasons = append(reasons, report.CheckupReason{Code: string(m.Code), Count: n, Message: m.Sentence()})
			}
		}
	}
	note := func(code reason.Code) {
		reasons = append(reasons, report.CheckupReason{Code: string(code), Message: reason.Verdict.Sentence(code)})
	}
	if e.timeless {
		note(reason.TimeUnknown)
	}
	if !e.now.snap.KnowsAllKinds() {
		note(reason.KindsNotKnown)
	}
	if !complete {
		note(reason.NotAllSeen)
	}
	if heaviest < doubt && complete && !e.timeless {
		note(e.nothing())
	}
	if e.agrees() {
		note(reason.GraphAgrees)
	}
	if l := e.options.Lease; l != nil && l.pulse() == object.PulseBeats {
		note(reason.LeaseRenewed)
	}
	switch {
	case heaviest == against:
		return report.CollectorNotWorking, reasons
	case heaviest == doubt || !complete || e.timeless:
		return report.CollectorUnknown, reasons
	case e.agrees() && e.options.Graph.Live:
		return report.CollectorWorking, reasons
	default:
		return report.CollectorNoProblemFound, reasons
	}
}

// nothing returns the reason if no finding has an effect.
func (e *examiner) nothing() reason.Code {
	if e.summary.References == 0 {
		return reason.NothingToSee
	}
	return reason.NothingFound
}

// agrees reports whether the collector's graph was compared and does not differ.
func (e *examiner) agrees() bool {
	return e.comparison != nil && e.comparison.Compared > 0 && e.comparison.Different == 0
}

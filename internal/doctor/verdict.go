package doctor

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// verdict weighs the findings, and says what it rests on.
func (e *examiner) verdict(complete bool) (report.CollectorVerdict, []report.CheckupReason) {
	counts := map[Code]int{}
	for _, f := range e.findings {
		counts[Code(f.Code)]++
	}
	reasons := []report.CheckupReason{}
	heaviest := remark
	for w := against; w > remark; w-- {
		for _, c := range codes {
			if n := counts[c.Code]; n > 0 && c.weight == w {
				heaviest = max(heaviest, w)
				reasons = append(reasons, report.CheckupReason{Code: string(c.Code), Count: n, Message: c.Text})
			}
		}
	}
	note := func(code Code) {
		reasons = append(reasons, report.CheckupReason{Code: string(code), Message: sentenceOf(code)})
	}
	if e.timeless {
		note(TimeUnknown)
	}
	if !e.now.snap.KnowsAllKinds() {
		note(KindsNotKnown)
	}
	if !complete {
		note(NotAllSeen)
	}
	if heaviest < doubt && complete && !e.timeless {
		note(e.nothing())
	}
	if e.agrees() {
		note(GraphAgrees)
	}
	if l := e.options.Lease; l != nil && l.State == LeaseRead {
		if _, expired := l.expired(); !expired {
			note(LeaseRenewed)
		}
	}
	switch {
	case heaviest == against:
		return report.CollectorNotWorking, reasons
	case heaviest == doubt || !complete || e.timeless:
		return report.CollectorUnknown, reasons
	case e.agrees() && e.options.Graph.Live:
		return report.CollectorWorking, reasons
	default:
		return report.CollectorNoSign, reasons
	}
}

// nothing is the reason where no finding says anything.
func (e *examiner) nothing() Code {
	if e.summary.References == 0 {
		return NothingToSee
	}
	return NothingFound
}

// agrees tells whether the graph of the collector was compared, and is the same.
func (e *examiner) agrees() bool {
	return e.comparison != nil && e.comparison.Compared > 0 && e.comparison.Different == 0
}

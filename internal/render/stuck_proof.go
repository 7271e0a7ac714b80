package render

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// whoFrees are the proofs that name the responsible controller, the best first. whetherRuns are
// those about whether it works.
var (
	whoFrees    = []reason.Code{reason.RemovedBy, reason.WrittenBy, reason.WrittenByTool}
	whetherRuns = []reason.Code{
		reason.ScaledToZero, reason.FinalizerControllerMayNot, reason.FinalizerControllerNotReady, reason.ServiceAbsent, reason.NoEndpoints,
		reason.AttachmentSays, reason.BudgetSays, reason.PolicySays, reason.ConditionSays, reason.FinalizerControllerRuns,
		reason.FinalizerControllerSeen, reason.LeaseExpired, reason.LeaseRenewed, reason.FinalizerControllerAbsent,
		reason.NodeSays, reason.EventSays, reason.StaticPod, reason.RunsOutside, reason.RunsWithAllRights, reason.NotConnected,
		reason.MayFromOutside, reason.RightsNotTold, reason.NotRead, reason.LeaseNotFound, reason.TakesLong,
	}
)

// strongest returns the texts of the best proofs of a finding: the responsible controller, and
// whether it works. Proofs that only repeat the reason are left out.
func strongest(s Style, f *report.Finding, why string, most int) []string {
	_, detail, _ := strings.Cut(why, ": ")
	if detail == "" {
		detail = why
	}
	best := func(order []reason.Code) *report.Proof {
		for _, code := range order {
			i := slices.IndexFunc(f.Proof, func(p report.Proof) bool {
				return p.Reason == string(code) && !strings.Contains(why, p.Message) && !strings.Contains(p.Message, detail)
			})
			if i >= 0 {
				return &f.Proof[i]
			}
		}
		return nil
	}
	var texts []string
	for _, p := range []*report.Proof{best(whetherRuns), best(whoFrees)} {
		if p != nil && len(texts) < most {
			texts = append(texts, s.text(p.Message))
		}
	}
	slices.Reverse(texts) // first the controller, then whether it runs
	return texts
}

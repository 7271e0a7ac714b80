package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// AsksDrains reports whether cordoned nodes are searched for, too.
func (q StuckQuestion) AsksDrains() bool {
	node := object.Node.Resource()
	switch {
	case len(q.Objects) > 0:
		return slices.ContainsFunc(q.Objects, func(r object.Ref) bool { return r.Is(object.Node) })
	case len(q.Kinds) > 0:
		return slices.ContainsFunc(q.Kinds, func(r object.Resource) bool { return r.GroupResource() == node.GroupResource() })
	default:
		return q.Namespace == ""
	}
}

// drains adds a finding for each cordoned node that is searched for and whose drain is blocked.
// Nodes that are being deleted have findings of their own.
func (i *inquiry) drains(d *answer, q StuckQuestion) {
	if !q.AsksDrains() {
		return
	}
	for _, x := range i.health.BlockedDrains() {
		node := i.snap.FindKind(object.Node, "", x.Node)
		switch {
		case node == nil, node.BeingDeleted(), q.Labels != nil && !q.Labels.Matches(node.Labels):
			continue
		case len(q.Objects) > 0 && !slices.Contains(q.Objects, node.Ref):
			continue
		}
		d.Summary.Objects++
		d.Findings = append(d.Findings, i.drainFinding(node, x.Evictions))
		if !i.snap.Covers(object.Pod.Resource(), "") {
			d.Unseen.Doubt() // the node may have other pods
		}
	}
}

func (i *inquiry) drainFinding(node *object.Object, blocked []health.Eviction) report.Finding {
	e := endAt(node, reason.DrainBlocked)
	for n := range blocked {
		x := &blocked[n]
		known := i.health.Known(x.Budget.Ref)
		if n == 0 {
			e.detail = x.Text(known)
			e.chain = append(e.chain, report.WaitLink{Ref: known, Waits: string(reason.DrainBlocked)})
		}
		e.prove(reason.BudgetSays, &known, x.Text(known))
		e.remedy(report.Act{Action: report.Describe, Target: known}, budgetEffect, "")
	}
	e.more = len(blocked) - 1
	others := "a drain would evict no other pod of node " + node.Name
	if !i.snap.Covers(object.Pod.Resource(), "") {
		others += " that was read"
	}
	e.prove(reason.NodeSays, nil, others+"; the cluster does not record whether one is running")
	f := report.Finding{
		Code: string(e.code), Severity: reason.Stuck.Severity(e.code), Object: node.Ref,
		Message: e.message(), Chain: e.chain, More: e.more, Proof: e.proof, Remedies: e.remedies,
	}
	f.Remedy = f.Remedies[0].Command
	return f
}

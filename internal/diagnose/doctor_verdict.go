package diagnose

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
		code := reason.NothingFound
		if e.summary.References == 0 {
			code = reason.NothingToSee
		}
		note(code)
	}
	if e.agrees() {
		note(reason.GraphAgrees)
	}
	if l := e.options.Lease; l != nil && l.holderState() == object.HolderAlive {
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

// agrees reports whether the collector's graph was compared and does not differ.
func (e *examiner) agrees() bool {
	return e.comparison != nil && e.comparison.Compared > 0 && e.comparison.Different == 0
}

// weight is the effect of a code on the verdict.
type weight uint8

const (
	// remark has no effect.
	remark weight = iota
	// doubt makes the verdict Unknown.
	doubt
	// against proves that the collector does not work, or not for everything.
	against
)

const (
	lookAtLog   = "look at the log of kube-controller-manager for garbagecollector; `kubectl gc collect -A --dry-run` shows what is left behind"
	restart     = "restart kube-controller-manager: a collector that starts reads everything anew, and looks at every deletion again"
	repairAPI   = "repair or remove the API: `kubectl get apiservices` and the conversion webhook of the CRD say what is wrong"
	dumpEarlier = "take `kubectl gc snapshot` now, and give it as --before later: what is still there then has been for that long"
)

// signs has, for each code, what to do about the finding and its effect on the verdict.
var signs = map[reason.Code]struct {
	remedy string
	weight weight
}{
	reason.GarbageOld:              {lookAtLog, against},
	reason.GarbageLeft:             {dumpEarlier, doubt},
	reason.GarbageYoung:            {"", remark},
	reason.ForegroundStuck:         {"a restart of kube-controller-manager mends a deletion that it has missed; otherwise " + lookAtLog, against},
	reason.ForegroundWaits:         {dumpEarlier, doubt},
	reason.OrphanStuck:             {"`kubectl gc check` names dependents that cannot be patched; otherwise " + lookAtLog, against},
	reason.CollectorMissedDeletion: {restart, doubt},
	reason.WriteRefused:            {"`kubectl gc stuck` and the configuration of the policy or webhook say what is behind it", remark},
	reason.WriteDoubtful:           {"see whether the policy or webhook is about such requests; `kubectl get events -A` shows deletes that were refused", doubt},
	reason.WebhookDown:             {"bring back what is behind the Service, or delete the configuration of a program that is no longer installed", remark},
	reason.KindUnlisted:            {repairAPI, doubt},
	reason.GroupUndiscovered:       {repairAPI, doubt},
	reason.KindUnwatched:           {"", remark},
	reason.LeaseExpired:            {"start kube-controller-manager, and see that it reaches the API server", against},
	reason.LeaseAbsent:             {"give the graph of the collector with --graph, which proves that it runs", doubt},
	reason.LeaseUnread:             {"`kubectl gc rbac --for doctor` prints the permissions that are needed", remark},
	reason.CollectorSwitchedOff:    {"take --enable-garbage-collector=false away, and garbagecollector back into --controllers", against},
	reason.GraphKindUnknown:        {"see that the kind can be listed and watched, then " + restart, against},
	reason.GraphObjectUnknown:      {restart, doubt},
	reason.GraphNodeGone:           {restart, doubt},
	reason.GraphOwnersDiffer:       {restart, doubt},
	reason.GraphStateDiffers:       {restart, doubt},
}

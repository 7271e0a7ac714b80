package doctor

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

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

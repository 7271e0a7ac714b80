package doctor

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Code is a kind of finding, or of reason for a verdict. Codes are API; docs/reasons.md
// lists them.
type Code string

// The codes of findings.
const (
	GarbageOld        Code = "GarbageOld"
	GarbageLeft       Code = "GarbageLeft"
	GarbageYoung      Code = "GarbageYoung"
	ForegroundStuck   Code = "ForegroundStuck"
	ForegroundWaits   Code = "ForegroundWaits"
	OrphanStuck       Code = "OrphanStuck"
	DeletionMissed    Code = "CollectorMissedDeletion"
	KindUnlisted      Code = "KindUnlisted"
	GroupUndiscovered Code = "GroupUndiscovered"
	KindUnwatched     Code = "KindUnwatched"
	LeaseExpired      Code = "LeaseExpired"
	LeaseAbsent       Code = "LeaseAbsent"
	LeaseUnread       Code = "LeaseUnread"
	SwitchedOff       Code = "CollectorSwitchedOff"
	GraphKindUnknown  Code = "GraphKindUnknown"
	GraphObject       Code = "GraphObjectUnknown"
	GraphNodeGone     Code = "GraphNodeGone"
	GraphOwnersDiffer Code = "GraphOwnersDiffer"
	GraphStateDiffers Code = "GraphStateDiffers"
	WriteRefused      Code = "WriteRefused"
)

// The codes of reasons that are no findings.
const (
	GraphAgrees   Code = "GraphAgrees"
	LeaseRenewed  Code = "LeaseRenewed"
	NothingFound  Code = "NothingFound"
	NothingToSee  Code = "NothingToSee"
	NotAllSeen    Code = "NotAllSeen"
	KindsNotKnown Code = "KindsNotKnown"
	TimeUnknown   Code = "TimeUnknown"
)

// weight is what a code does to the verdict.
type weight uint8

const (
	// remark changes nothing.
	remark weight = iota
	// doubt leaves the verdict Unknown.
	doubt
	// against proves that the collector does not work, or not for everything.
	against
)

// CodeText is one documented code.
type CodeText struct {
	Code     Code
	Severity reason.Severity
	// Text says what it means, and what follows.
	Text   string
	remedy string
	weight weight
}

const (
	lookAtLog   = "look at the log of kube-controller-manager for garbagecollector; `kubectl gc collect -A --dry-run` shows what is left behind"
	restart     = "restart kube-controller-manager: a collector that starts reads everything anew, and looks at every deletion again"
	repairAPI   = "repair or remove the API: `kubectl get apiservices` and the conversion webhook of the definition say what is wrong"
	dumpEarlier = "take `kubectl gc snapshot` now, and give it as --before later: what is still there then has been for that long"
)

var codes = []CodeText{
	{GarbageOld, reason.Error, "All owners are absent, provably for longer than the collector needs: it does not collect, something refuses the delete, or it has not looked at the object again after a reference was taken away.", lookAtLog, against},
	{GarbageLeft, reason.Warning, "All owners are absent; since when is not known, so it may be that the collector just has not come to it.", dumpEarlier, doubt},
	{GarbageYoung, reason.Info, "All owners are absent, and the object is so new that the collector may not have come to it.", "", remark},
	{ForegroundStuck, reason.Error, "A foreground deletion makes no progress: what has to be deleted first, or the finalizer, waits for the collector, provably for longer than it needs.", "a restart of kube-controller-manager mends a deletion that it has missed; otherwise " + lookAtLog, against},
	{ForegroundWaits, reason.Warning, "A foreground deletion waits for nobody but the collector; since when is not known, nor whether its requests are refused.", dumpEarlier, doubt},
	{OrphanStuck, reason.Error, "The finalizer orphan is still there, for longer than the collector needs: it does not work, or a dependent cannot be patched.", "`kubectl gc check` names dependents that cannot be patched; otherwise " + lookAtLog, against},
	{DeletionMissed, reason.Warning, "The object has both finalizers of the collector, which then does only half of the work until it restarts.", restart, doubt},
	{WriteRefused, reason.Warning, "A webhook has to be asked before the collector can do its part, and does not answer: what is left is not the fault of the collector.", "`kubectl gc stuck` and the configuration of the webhook say what is behind it", remark},
	{KindUnlisted, reason.Error, "The kind is served and cannot be listed. Before Kubernetes 1.32 a collector that starts now collects nothing at all; since then it is blind for this kind.", repairAPI, doubt},
	{GroupUndiscovered, reason.Warning, "The API is registered and does not say what it serves. A collector that starts now is blind for its kinds, and no namespace can be deleted.", repairAPI, doubt},
	{KindUnwatched, reason.Info, "The kind lacks one of the verbs delete, list and watch: the collector never collects its objects, and no foreground deletion waits for them.", "", remark},
	{LeaseExpired, reason.Error, "The lease of kube-controller-manager has expired and nobody renews it: no controller of Kubernetes is running, unless leader election was switched off since.", "start kube-controller-manager, and see that it reaches the API server", against},
	{LeaseAbsent, reason.Info, "There is no lease of kube-controller-manager: it runs elsewhere, as in many managed clusters, or without leader election, or never ran.", "", remark},
	{LeaseUnread, reason.Info, "The lease of kube-controller-manager could not be read.", "`kubectl gc rbac --for doctor` prints the rights that are needed", remark},
	{SwitchedOff, reason.Error, "The command line of kube-controller-manager switches the collector off.", "take --enable-garbage-collector=false away, and garbagecollector back into --controllers", against},
	{GraphKindUnknown, reason.Error, "The collector has seen no object of this kind: it is blind for it, and neither collects its objects nor waits for them.", "see that the kind can be listed and watched, then " + restart, against},
	{GraphObject, reason.Warning, "The collector has not seen the object, or has not seen that it has owners or dependents.", restart, doubt},
	{GraphNodeGone, reason.Warning, "The collector takes an object for living that does not exist: its dependents are not collected, and what it blocks stays.", restart, doubt},
	{GraphOwnersDiffer, reason.Warning, "The collector knows other owners of the object than it has.", restart, doubt},
	{GraphStateDiffers, reason.Warning, "The collector does not know that the object is being deleted, or that it waits for its dependents: the deletion hangs until it restarts.", restart, doubt},
}

// Codes lists the codes of findings with their severity and one sentence each.
func Codes() []CodeText { return codes }

// ReasonText is one documented reason of a verdict that is no finding.
type ReasonText struct {
	Code Code
	Text string
}

// Reasons lists what a verdict may rest on beside findings.
func Reasons() []ReasonText {
	return []ReasonText{
		{GraphAgrees, "The collector's own graph agrees with what was seen."},
		{LeaseRenewed, "kube-controller-manager has renewed its lease. Whether the collector is among its controllers, that does not say."},
		{NothingFound, "No garbage, no deletion without progress, no kind that cannot be listed."},
		{NothingToSee, "No object has an owner, so a collector would have nothing to do."},
		{NotAllSeen, "Not everything could be looked at: signs may be where nobody looked."},
		{KindsNotKnown, "Which kinds are served is not known, so neither is what the collector watches."},
		{TimeUnknown, "When the dump was taken is not known, so nothing can be said about how long something lasts."},
	}
}

func textOf(code Code) CodeText {
	for _, c := range codes {
		if c.Code == code {
			return c
		}
	}
	panic("doctor: no such code: " + string(code))
}

func sentenceOf(code Code) string {
	for _, r := range Reasons() {
		if r.Code == code {
			return r.Text
		}
	}
	return textOf(code).Text
}

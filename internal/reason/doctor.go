package reason

// Signs that the collector does not work, or may not.
const (
	GarbageOld              Code = "GarbageOld"
	GarbageLeft             Code = "GarbageLeft"
	GarbageYoung            Code = "GarbageYoung"
	ForegroundStuck         Code = "ForegroundStuck"
	ForegroundWaits         Code = "ForegroundWaits"
	OrphanStuck             Code = "OrphanStuck"
	CollectorMissedDeletion Code = "CollectorMissedDeletion"
	WriteRefused            Code = "WriteRefused"
	WriteDoubtful           Code = "WriteDoubtful"
	KindUnlisted            Code = "KindUnlisted"
	GroupUndiscovered       Code = "GroupUndiscovered"
	KindUnwatched           Code = "KindUnwatched"
	LeaseAbsent             Code = "LeaseAbsent"
	LeaseUnread             Code = "LeaseUnread"
	CollectorSwitchedOff    Code = "CollectorSwitchedOff"
	GraphKindUnknown        Code = "GraphKindUnknown"
	GraphObjectUnknown      Code = "GraphObjectUnknown"
	GraphNodeGone           Code = "GraphNodeGone"
	GraphOwnersDiffer       Code = "GraphOwnersDiffer"
	GraphStateDiffers       Code = "GraphStateDiffers"
)

// Doctor has the codes of doctor.
var Doctor = &Family{
	Title: "Codes of doctor",
	Found: "in the findings of doctor",
	Meanings: []Meaning{
		{Code: GarbageOld, Severity: Error, Long: "All owners have been absent for longer than the garbage collector needs: it does not work, its delete is refused, or it has not examined the object again after a reference was removed."},
		{Code: GarbageLeft, Severity: Warning, Long: "All owners are absent. Since when is unknown, so the garbage collector may just not have come to it."},
		{Code: GarbageYoung, Severity: Info, Long: "All owners are absent, and the object is so new that the garbage collector may not have come to it."},
		{Code: ForegroundStuck, Severity: Error, Long: "A foreground deletion makes no progress: it has waited for the garbage collector for longer than that needs."},
		{Code: ForegroundWaits, Severity: Warning, Long: "A foreground deletion waits only for the garbage collector. Since when, and whether its requests are refused, is unknown."},
		{Code: OrphanStuck, Severity: Error, Long: "The garbage collector has left the finalizer orphan for longer than it needs: it does not work, or a dependent cannot be patched."},
		{Code: CollectorMissedDeletion, Severity: Warning, Long: "The object has both finalizers of the garbage collector, which then does only half of the work until it restarts."},
		{Code: WriteRefused, Severity: Warning, Long: "An admission policy denies a request of the garbage collector, or a required webhook does not answer: what remains is not its fault."},
		{Code: WriteDoubtful, Severity: Warning, Long: "An admission policy or a webhook may refuse a request of the garbage collector: what remains proves nothing about it."},
		{Code: KindUnlisted, Severity: Error, Long: "The kind is served and cannot be listed. Before Kubernetes 1.32 a collector that starts now collects nothing at all; since then it ignores this kind."},
		{Code: GroupUndiscovered, Severity: Warning, Long: "The API is registered and does not say what it serves. A collector that starts now ignores its kinds, and no namespace can be deleted."},
		{Code: KindUnwatched, Severity: Info, Long: "The kind lacks delete, list or watch: its objects are never collected, and no foreground deletion waits for them."},
		{Code: LeaseExpired, Severity: Error, Long: "The lease of kube-controller-manager has expired: no controller of Kubernetes is running, unless leader election was switched off since."},
		{Code: LeaseAbsent, Severity: Warning, Long: "kube-controller-manager has no lease: it runs without leader election, or elsewhere, or not at all."},
		{Code: LeaseUnread, Severity: Info, Long: "The lease of kube-controller-manager could not be read."},
		{Code: CollectorSwitchedOff, Severity: Error, Long: "The command line of kube-controller-manager switches the garbage collector off."},
		{Code: GraphKindUnknown, Severity: Error, Long: "The garbage collector has seen no object of this kind: it neither collects them nor waits for them."},
		{Code: GraphObjectUnknown, Severity: Warning, Long: "The garbage collector has not seen the object, or not that it has owners or dependents."},
		{Code: GraphNodeGone, Severity: Warning, Long: "To the garbage collector, an object exists that is gone: its dependents are not collected, and what it blocks stays."},
		{Code: GraphOwnersDiffer, Severity: Warning, Long: "The garbage collector knows other owners of the object than it has."},
		{Code: GraphStateDiffers, Severity: Warning, Long: "The garbage collector does not know that the object is being deleted, or waits for its dependents: the deletion hangs until it restarts."},
	},
}

// Reasons of a verdict of doctor that are not findings.
const (
	GraphAgrees   Code = "GraphAgrees"
	NothingFound  Code = "NothingFound"
	NothingToSee  Code = "NothingToSee"
	NotAllSeen    Code = "NotAllSeen"
	KindsNotKnown Code = "KindsNotKnown"
	TimeUnknown   Code = "TimeUnknown"
)

// Verdict has the reasons of a verdict of doctor that are not findings.
var Verdict = &Family{
	Title: "Reasons of a verdict of doctor",
	Found: "in addition to the codes of its findings",
	Meanings: []Meaning{
		{Code: GraphAgrees, Long: "The garbage collector's own graph agrees with what was seen."},
		{Code: LeaseRenewed, Long: "kube-controller-manager has renewed its lease. That does not show whether it runs the garbage collector."},
		{Code: NothingFound, Long: "No garbage, no deletion without progress, no kind that cannot be listed."},
		{Code: NothingToSee, Long: "No object has an owner, so there is nothing to collect."},
		{Code: NotAllSeen, Long: "Not everything could be read: the rest may have signs."},
		{Code: KindsNotKnown, Long: "Which kinds are served is unknown, so what the garbage collector watches is unknown too."},
		{Code: TimeUnknown, Long: "The time of the dump is unknown, so nothing can be said about durations."},
	},
}

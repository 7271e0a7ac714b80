package reason

// What shows that the collector does not work, or may not.
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

// Doctor are the codes of doctor.
var Doctor = &Family{
	Title: "Codes of doctor",
	Found: "in the findings of doctor",
	Meanings: []Meaning{
		{Code: GarbageOld, Severity: Error, Long: "All owners are absent, provably for longer than the garbage collector needs: it does not collect, something refuses the delete, or it has not looked at the object again after a reference was taken away."},
		{Code: GarbageLeft, Severity: Warning, Long: "All owners are absent; since when is not known, so it may be that the garbage collector just has not come to it."},
		{Code: GarbageYoung, Severity: Info, Long: "All owners are absent, and the object is so new that the garbage collector may not have come to it."},
		{Code: ForegroundStuck, Severity: Error, Long: "A foreground deletion makes no progress: what has to be deleted first, or the finalizer, waits for the garbage collector, provably for longer than it needs."},
		{Code: ForegroundWaits, Severity: Warning, Long: "A foreground deletion waits only for the garbage collector; since when, and whether its requests are refused, is unknown."},
		{Code: OrphanStuck, Severity: Error, Long: "The finalizer orphan is still there, for longer than the garbage collector needs: it does not work, or a dependent cannot be patched."},
		{Code: CollectorMissedDeletion, Severity: Warning, Long: "The object has both finalizers of the garbage collector, which then does only half of the work until it restarts."},
		{Code: WriteRefused, Severity: Warning, Long: "An admission policy denies the part of the garbage collector, or a webhook has to be asked before and does not answer: what is left is not the fault of the garbage collector."},
		{Code: WriteDoubtful, Severity: Warning, Long: "An admission policy or a webhook may be in the way of the garbage collector, and whether it is could not be evaluated: what is left says nothing about the garbage collector."},
		{Code: KindUnlisted, Severity: Error, Long: "The kind is served and cannot be listed. Before Kubernetes 1.32 a collector that starts now collects nothing at all; since then it is blind for this kind."},
		{Code: GroupUndiscovered, Severity: Warning, Long: "The API is registered and does not say what it serves. A collector that starts now is blind for its kinds, and no namespace can be deleted."},
		{Code: KindUnwatched, Severity: Info, Long: "The kind lacks one of the verbs delete, list and watch: the garbage collector never collects its objects, and no foreground deletion waits for them."},
		{Code: LeaseExpired, Severity: Error, Long: "The lease of kube-controller-manager has expired and is not renewed: no controller of Kubernetes is running, unless leader election was switched off since."},
		{Code: LeaseAbsent, Severity: Warning, Long: "There is no lease of kube-controller-manager: it runs without leader election, or elsewhere, or not at all."},
		{Code: LeaseUnread, Severity: Info, Long: "The lease of kube-controller-manager could not be read."},
		{Code: CollectorSwitchedOff, Severity: Error, Long: "The command line of kube-controller-manager switches the garbage collector off."},
		{Code: GraphKindUnknown, Severity: Error, Long: "The garbage collector has seen no object of this kind: it is blind for it, and neither collects its objects nor waits for them."},
		{Code: GraphObjectUnknown, Severity: Warning, Long: "The garbage collector has not seen the object, or has not seen that it has owners or dependents."},
		{Code: GraphNodeGone, Severity: Warning, Long: "The garbage collector takes an object for living that does not exist: its dependents are not collected, and what it blocks stays."},
		{Code: GraphOwnersDiffer, Severity: Warning, Long: "The garbage collector knows other owners of the object than it has."},
		{Code: GraphStateDiffers, Severity: Warning, Long: "The garbage collector does not know that the object is being deleted, or that it waits for its dependents: the deletion hangs until it restarts."},
	},
}

// What a verdict of doctor rests on beside findings.
const (
	GraphAgrees   Code = "GraphAgrees"
	NothingFound  Code = "NothingFound"
	NothingToSee  Code = "NothingToSee"
	NotAllSeen    Code = "NotAllSeen"
	KindsNotKnown Code = "KindsNotKnown"
	TimeUnknown   Code = "TimeUnknown"
)

// Verdict are the reasons of a verdict of doctor that are no findings.
var Verdict = &Family{
	Title: "Reasons of a verdict of doctor",
	Found: "beside the codes of its findings",
	Meanings: []Meaning{
		{Code: GraphAgrees, Long: "The garbage collector's own graph agrees with what was seen."},
		{Code: LeaseRenewed, Long: "kube-controller-manager has renewed its lease. Whether the garbage collector is among its controllers, that does not say."},
		{Code: NothingFound, Long: "No garbage, no deletion without progress, no kind that cannot be listed."},
		{Code: NothingToSee, Long: "No object has an owner, so a collector would have nothing to do."},
		{Code: NotAllSeen, Long: "Not everything could be read: there may be signs in the rest."},
		{Code: KindsNotKnown, Long: "Which kinds are served is not known, so neither is what the garbage collector watches."},
		{Code: TimeUnknown, Long: "When the dump was taken is not known, so nothing can be said about how long something lasts."},
	},
}

package reason

import "slices"

// What has to move for a deletion to end.
const (
	FinalizerRemoverGone    Code = "FinalizerRemoverGone"
	FinalizerRemoverSlow    Code = "FinalizerRemoverSlow"
	FinalizerRemoverUnknown Code = "FinalizerRemoverUnknown"
	FinalizerRemoverAlive   Code = "FinalizerRemoverAlive"
	StillInUse              Code = "StillInUse"
	SelfBlock               Code = "SelfBlock"
	WaitingCycle            Code = "WaitingCycle"
	LiveDependentBlocks     Code = "LiveDependentBlocks"
	OrphaningStuck          Code = "OrphaningStuck"
	DeletionForgotten       Code = "DeletionForgotten"
	KindNotServed           Code = "KindNotServed"
	GracePeriod             Code = "GracePeriod"
	EndNotSeen              Code = "EndNotSeen"
	UnderWay                Code = "UnderWay"
)

// Stuck are the codes of stuck. An error does not go away by itself.
var Stuck = &Family{
	Title: "Codes of stuck",
	Found: "in the findings of stuck",
	Meanings: slices.Concat([]Meaning{
		{Code: FinalizerRemoverGone, Severity: Error, Long: "A finalizer holds the object, and nobody who could remove it runs: all of them were looked for in what was completely read."},
		{Code: FinalizerRemoverSlow, Severity: Warning, Long: "A finalizer holds the object; one who removes it is there and does not get it done."},
		{Code: FinalizerRemoverUnknown, Severity: Warning, Long: "A finalizer holds the object, and whether anybody removes it is not known."},
		{Code: FinalizerRemoverAlive, Severity: Info, Long: "A finalizer holds the object, and one who removes it is at work."},
		{Code: StillInUse, Severity: Error, Long: "A claim or volume is protected because a pod uses it or a claim has it, and that stays."},
		{Code: SelfBlock, Severity: Error, Long: "The object is being deleted in the foreground and blocks itself with its own owner reference: nothing ever frees it."},
		{Code: WaitingCycle, Severity: Error, Long: "Objects that are all being deleted in the foreground wait for one another: nothing ever frees them."},
		{Code: LiveDependentBlocks, Severity: Error, Long: "The object is being deleted in the foreground, and a blocking dependent stays that the collector does not delete."},
		{Code: OrphaningStuck, Severity: Error, Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: DeletionForgotten, Severity: Error, Long: "The collector has missed this deletion: it will not look again until it restarts."},
		{Code: KindNotServed, Severity: Error, Long: "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{Code: GracePeriod, Severity: Info, Long: "The grace period of the pod runs."},
		{Code: EndNotSeen, Severity: Warning, Long: "What the object waits for was not seen."},
		{Code: UnderWay, Severity: Info, Long: "Nothing holds the object that does not go by itself."},
	}, standstill),
}

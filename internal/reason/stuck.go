package reason

import "slices"

// What has to move for a deletion to end.
const (
	FinalizerControllerGone    Code = "FinalizerControllerGone"
	FinalizerControllerSlow    Code = "FinalizerControllerSlow"
	FinalizerControllerUnknown Code = "FinalizerControllerUnknown"
	FinalizerControllerAlive   Code = "FinalizerControllerAlive"
	StillInUse                 Code = "StillInUse"
	SelfBlock                  Code = "SelfBlock"
	WaitingCycle               Code = "WaitingCycle"
	LiveDependentBlocks        Code = "LiveDependentBlocks"
	OrphaningStuck             Code = "OrphaningStuck"
	DeletionForgotten          Code = "DeletionForgotten"
	KindNotServed              Code = "KindNotServed"
	GracePeriod                Code = "GracePeriod"
	EndNotSeen                 Code = "EndNotSeen"
	UnderWay                   Code = "UnderWay"
	ManagerNotSeen             Code = "ManagerNotSeen"
)

// Stuck are the codes of stuck. An error does not go away by itself.
var Stuck = &Family{
	Title: "Codes of stuck",
	Found: "in the findings of stuck",
	Meanings: slices.Concat([]Meaning{
		{Code: FinalizerControllerGone, Severity: Error, Long: "A finalizer holds the object, and no controller that could remove it is running: everything that could show one was read."},
		{Code: FinalizerControllerSlow, Severity: Warning, Long: "A finalizer holds the object; its controller is running but does not remove it."},
		{Code: FinalizerControllerUnknown, Severity: Warning, Long: "A finalizer holds the object; it is not known whether anything removes it."},
		{Code: FinalizerControllerAlive, Severity: Info, Long: "A finalizer holds the object; its controller is running."},
		{Code: StillInUse, Severity: Error, Long: "A finalizer protects the object because something uses it, as a pod uses a PVC, or because its status says so, and that stays."},
		{Code: SelfBlock, Severity: Error, Long: "The object is being deleted in the foreground and blocks itself with its own owner reference: this never ends by itself."},
		{Code: WaitingCycle, Severity: Error, Long: "Objects that are all being deleted in the foreground wait for one another: this never ends by itself."},
		{Code: LiveDependentBlocks, Severity: Error, Long: "The object is being deleted in the foreground, and a blocking dependent stays that the garbage collector does not delete."},
		{Code: OrphaningStuck, Severity: Error, Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: DeletionForgotten, Severity: Error, Long: "The garbage collector has missed this deletion: it will not look again until it restarts."},
		{Code: KindNotServed, Severity: Error, Long: "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{Code: GracePeriod, Severity: Info, Long: "The grace period of the pod runs."},
		{Code: EndNotSeen, Severity: Warning, Long: "What the object waits for was not seen."},
		{Code: ManagerNotSeen, Severity: Warning, Long: "Only controllers of kube-controller-manager hold the object, and whether it runs is not known: everything was read that could show its lease, and there is none."},
		{Code: UnderWay, Severity: Info, Long: "Nothing holds the object that does not go by itself."},
	}, standstill),
}

package reason

import "slices"

// Reasons why a deletion is stuck.
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

// Stuck has the codes of stuck. An error does not go away by itself.
var Stuck = &Family{
	Title: "Codes of stuck",
	Found: "in the findings of stuck",
	Meanings: slices.Concat([]Meaning{
		{Code: FinalizerControllerGone, Severity: Error, Long: "A finalizer holds the object, and no controller that could remove it is running: everything that could show one was read."},
		{Code: FinalizerControllerSlow, Severity: Warning, Long: "A finalizer holds the object. Its controller is running but does not remove it."},
		{Code: FinalizerControllerUnknown, Severity: Warning, Long: "A finalizer holds the object. Whether anything removes it is unknown."},
		{Code: FinalizerControllerAlive, Severity: Info, Long: "A finalizer holds the object. Its controller is running."},
		{Code: StillInUse, Severity: Error, Long: "A finalizer protects the object while it is used, such as a PVC by a pod, or while its status says so, and the use does not end by itself."},
		{Code: SelfBlock, Severity: Error, Long: "The object is being deleted in the foreground and blocks its own deletion by an owner reference to itself: this never ends by itself."},
		{Code: WaitingCycle, Severity: Error, Long: "Objects that are being deleted in the foreground wait for one another: this never ends by itself."},
		{Code: LiveDependentBlocks, Severity: Error, Long: "The object is being deleted in the foreground, and the garbage collector does not delete a blocking dependent."},
		{Code: OrphaningStuck, Severity: Error, Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: DeletionForgotten, Severity: Error, Long: "The garbage collector has missed the deletion and ignores it until it restarts."},
		{Code: KindNotServed, Severity: Error, Long: "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{Code: GracePeriod, Severity: Info, Long: "The grace period of the pod runs."},
		{Code: EndNotSeen, Severity: Warning, Long: "What the object waits for was not seen."},
		{Code: ManagerNotSeen, Severity: Warning, Long: "Only controllers of kube-controller-manager hold the object, and whether it runs is unknown: everything that could show its lease was read, and there is none."},
		{Code: UnderWay, Severity: Info, Long: "Everything that holds the object goes by itself."},
	}, standstill),
}

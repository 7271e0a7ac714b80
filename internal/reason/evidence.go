package reason

// Evidence about the controller that has to act, and missing evidence.
const (
	WrittenBy                   Code = "WrittenBy"
	WrittenByTool               Code = "WrittenByTool"
	WriterNotShown              Code = "WriterNotShown"
	RemovedBy                   Code = "RemovedBy"
	FinalizerControllerRuns     Code = "FinalizerControllerRuns"
	FinalizerControllerNotReady Code = "FinalizerControllerNotReady"
	FinalizerControllerMayNot   Code = "FinalizerControllerMayNot"
	FinalizerControllerAbsent   Code = "FinalizerControllerAbsent"
	FinalizerControllerSeen     Code = "FinalizerControllerSeen"
	NotConnected                Code = "NotConnected"
	ScaledToZero                Code = "ScaledToZero"
	RunsWithAllRights           Code = "RunsWithAllRights"
	MayFromOutside              Code = "MayFromOutside"
	RunsOutside                 Code = "RunsOutside"
	RightsNotTold               Code = "RightsNotTold"
	LeaseRenewed                Code = "LeaseRenewed"
	LeaseExpired                Code = "LeaseExpired"
	LeaseNotFound               Code = "LeaseNotFound"
	NotRead                     Code = "NotRead"
	TakesLong                   Code = "TakesLong"
	ConditionSays               Code = "ConditionSays"
	DiscoveryWorks              Code = "DiscoveryWorks"
	EventSays                   Code = "EventSays"
	NoEndpoints                 Code = "NoEndpoints"
	ServiceAbsent               Code = "ServiceAbsent"
	AttachmentSays              Code = "AttachmentSays"
	BudgetSays                  Code = "BudgetSays"
	PolicySays                  Code = "PolicySays"
	SimulationSays              Code = "SimulationSays"
	InventorySays               Code = "InventorySays"
	ControllerPaused            Code = "ControllerPaused"
	NodeSays                    Code = "NodeSays"
	StaticPod                   Code = "StaticPod"
)

// Proof has the kinds of evidence.
var Proof = &Family{
	Title: "Reasons of a proof",
	Found: "in the findings of stuck",
	Meanings: []Meaning{
		{Code: WrittenBy, Long: "managedFields name the program that wrote the finalizer."},
		{Code: WrittenByTool, Long: "managedFields name an interactive tool as the writer of the finalizer, which does not show what removes it."},
		{Code: WriterNotShown, Long: "managedFields were not seen, or do not own the finalizer."},
		{Code: RemovedBy, Long: "The table of finalizers says what removes it, and when."},
		{Code: FinalizerControllerRuns, Long: "A pod may write the object, by its service account, and is [connected](stuck.md#the-verdict) to the finalizer."},
		{Code: FinalizerControllerNotReady, Long: "Such a pod exists, and is not ready."},
		{Code: FinalizerControllerMayNot, Long: "A program of that name runs, and may not write the object."},
		{Code: FinalizerControllerAbsent, Long: "No pod may write the object, or all that may belong to other controllers."},
		{Code: FinalizerControllerSeen, Long: "A pod has the name of the controller. Whether it may write the object was not seen."},
		{Code: NotConnected, Long: "A pod may write the object, but nothing connects it to the finalizer: it may or may not be its controller."},
		{Code: ScaledToZero, Long: "A workload that may write the object is scaled to 0."},
		{Code: RunsWithAllRights, Long: "A pod may write all API groups: it may be the controller that removes the finalizer."},
		{Code: MayFromOutside, Long: "A user or group may write the object: a program outside of the cluster may run as that user."},
		{Code: RunsOutside, Long: "Its controller belongs to the cloud provider or the distribution, and may run without a pod in the cluster."},
		{Code: RightsNotTold, Long: "The default roles of RBAC are missing: permissions may be granted in another way."},
		{Code: LeaseRenewed, Long: "A lease of its controller was renewed in time."},
		{Code: LeaseExpired, Long: "A lease of its controller has expired."},
		{Code: LeaseNotFound, Long: "Its controller has no lease, and may work without one."},
		{Code: NotRead, Long: "A part of the evidence was not read: nothing in it counts as absent."},
		{Code: TakesLong, Long: "The deletion has lasted long. That alone never means that no controller works on it."},
		{Code: ConditionSays, Long: "A condition or message in the object's status."},
		{Code: DiscoveryWorks, Long: "Discovery failed when the condition was written, and works now."},
		{Code: EventSays, Long: "A warning event about the object."},
		{Code: NoEndpoints, Long: "The service has no ready endpoint."},
		{Code: ServiceAbsent, Long: "The service does not exist."},
		{Code: AttachmentSays, Long: "A VolumeAttachment of the volume or node: whether it is attached, and its last error."},
		{Code: BudgetSays, Long: "A PodDisruptionBudget allows no eviction of a pod on the drained node."},
		{Code: PolicySays, Long: "What an admission policy decides about the request, with its binding, or what could not be evaluated."},
		{Code: SimulationSays, Long: "What the simulated collector does with the object."},
		{Code: InventorySays, Long: "What a deployer deletes first exists."},
		{Code: ControllerPaused, Long: "Something that the object says, or that it belongs to, keeps its controller from removing the finalizer."},
		{Code: NodeSays, Long: "What is known about the node."},
		{Code: StaticPod, Long: "The pod mirrors a static pod: its kubelet creates it again."},
	},
}

// Reasons why a list is not covered.
const (
	NotInDump  Code = "NotInDump"
	Forbidden  Code = "Forbidden"
	ListFailed Code = "ListFailed"
	Truncated  Code = "Truncated"
	LeftOut    Code = "LeftOut"
	Partial    Code = "Partial"
	Encrypted  Code = "Encrypted"
	Expired    Code = "Expired"
	CRDGone    Code = "CRDGone"

	NotServed       Code = "NotServed"
	CRDVersionGone  Code = "CRDVersionGone"
	CRDScopeChanged Code = "CRDScopeChanged"
	CRDKindChanged  Code = "CRDKindChanged"
)

// Gap has the reasons why a list is not covered.
var Gap = &Family{
	Title: "Reasons of a gap",
	Found: "in front of the colon of `why`",
	Meanings: []Meaning{
		{Code: NotInDump, Long: "No file of the dump lists the resource there."},
		{Code: Forbidden, Long: "The user that took the dump was not allowed to list it."},
		{Code: ListFailed, Long: "The list failed for another reason."},
		{Code: NotServed, Long: "Discovery names the resource, and a list of it returns 404."},
		{Code: Truncated, Long: "The file with the list is broken."},
		{Code: LeftOut, Long: "It was left out on purpose: by `--namespaces`, `--include` or `--exclude`, or because the answer needs only one namespace."},
		{Code: Encrypted, Long: "Some of its objects are encrypted in the etcd snapshot: only their names are known."},
		{Code: Expired, Long: "The server has forgotten earlier changes. It remembers some minutes, and less for kinds that change often or had a change of their CRD."},
		{Code: CRDGone, Long: "Its CRD was deleted: until it exists again, the server shows neither its instances nor what happened to them."},
		{Code: CRDVersionGone, Long: "As CRDGone: its CRD was created again without the version that its instances were stored in."},
		{Code: CRDScopeChanged, Long: "Its CRD was created again with another scope: the server does not show which instances were deleted."},
		{Code: CRDKindChanged, Long: "As CRDScopeChanged, with another kind."},
		{Code: Partial, Long: "The list is marked as incomplete, contradicts itself, or may have been taken with a selector."},
	},
}

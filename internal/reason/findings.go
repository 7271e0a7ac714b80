package reason

import "slices"

// Problems of owner references.
const (
	OwnerNotFound            Code = "OwnerNotFound"
	OwnerUIDMismatch         Code = "OwnerUIDMismatch"
	OwnerKindMismatch        Code = "OwnerKindMismatch"
	OwnerNameMismatch        Code = "OwnerNameMismatch"
	OwnerNamespaceMismatch   Code = "OwnerNamespaceMismatch"
	OwnerNamespaced          Code = "OwnerNamespaced"
	OwnerKindUnknown         Code = "OwnerKindUnknown"
	OwnerVersionNotServed    Code = "OwnerVersionNotServed"
	OwnerKindNotServed       Code = "OwnerKindNotServed"
	OwnerKindCase            Code = "OwnerKindCase"
	OwnerVersionNotPreferred Code = "OwnerVersionNotPreferred"
	OwnerBanned              Code = "OwnerBanned"
	ReferenceIncomplete      Code = "ReferenceIncomplete"
	TwoControllers           Code = "TwoControllers"
	SelfOwner                Code = "SelfOwner"
	SelfOwnerBlocks          Code = "SelfOwnerBlocks"
	OwnerCycleBlocks         Code = "OwnerCycleBlocks"
	NoUID                    Code = "NoUID"
	ReferenceNotFound        Code = "ReferenceNotFound"
)

// Meanings that other families share.
var (
	sharedUID       = Meaning{Code: SharedUID, Severity: Error, Short: "another object has the same UID", Long: "Several objects have the same uid. The garbage collector cannot tell them apart."}
	ownerNotCovered = Meaning{Code: OwnerNotCovered, Severity: Warning, Short: "the snapshot does not cover an owner", Long: "The snapshot does not cover an owner, which may or may not exist."}
)

// Check has the codes of check.
var Check = &Family{
	Title: "Codes of check",
	Found: "in the findings of check",
	Meanings: []Meaning{
		{Code: OwnerNotFound, Severity: Error, Long: "The owner does not exist. The object is garbage unless another owner keeps it."},
		{Code: OwnerUIDMismatch, Severity: Error, Long: "The owner was deleted and created again: an object of that kind and name has another uid."},
		{Code: OwnerKindMismatch, Severity: Error, Long: "The uid belongs to an object of another kind or group: the owner counts as absent."},
		{Code: OwnerNameMismatch, Severity: Error, Long: "The uid belongs to an object with another name: the owner counts as absent."},
		{Code: OwnerNamespaceMismatch, Severity: Error, Long: "The uid belongs to an object in another namespace: the owner counts as absent."},
		{Code: OwnerNamespaced, Severity: Error, Long: "A cluster-scoped object refers to a namespaced owner. It is never collected, and a foreground deletion of that owner may never end."},
		{Code: OwnerKindUnknown, Severity: Error, Long: "No resource of that kind is served: the object is never collected."},
		{Code: OwnerVersionNotServed, Severity: Error, Long: "The kind is served, but not in this version. The object is never collected, and may be deleted wrongly while a version stops being served."},
		{Code: OwnerKindNotServed, Severity: Error, Long: "The kind (such as a list kind) maps to a path that does not exist: every owner of that kind counts as absent."},
		ownerNotCovered,
		{Code: OwnerKindCase, Severity: Warning, Long: "The kind is in lower case. The garbage collector accepts that, other tools may not."},
		{Code: OwnerVersionNotPreferred, Severity: Info, Long: "The version is served, but not preferred. Each restart of the garbage collector examines the object again, and it is at risk when that version stops being served."},
		{Code: OwnerBanned, Severity: Error, Long: "An Event cannot be an owner: the API server refuses every later update of the object."},
		{Code: ReferenceIncomplete, Severity: Error, Long: "apiVersion, kind, name or uid is empty: the API server refuses every later update of the object."},
		{Code: TwoControllers, Severity: Error, Long: "Two references have controller: true. The API server refuses every later update of the object, so orphaning and pruning it fail forever."},
		{Code: SelfOwner, Severity: Warning, Long: "The object owns itself, so it always has an existing owner and is never collected."},
		{Code: SelfOwnerBlocks, Severity: Error, Long: "The object owns itself and blocks its own deletion: a foreground delete of it never ends."},
		{Code: OwnerCycle, Severity: Warning, Long: "Objects own one another in a circle: none is collected unless one of them is deleted."},
		{Code: OwnerCycleBlocks, Severity: Warning, Long: "Objects own and block one another in a circle: foreground deletes of several of them at once may never end."},
		sharedUID,
		{Code: NoUID, Severity: Warning, Long: "The object has no uid in the snapshot, so its dependents are unknown."},
		{Code: ReferenceNotFound, Severity: Error, Long: "With `--references`: a field that is not optional, such as a Secret in the environment of a Deployment, names an object that does not exist."},
	},
}

// Reasons why a deletion is stuck.
const (
	FinalizerControllerGone    Code = "FinalizerControllerGone"
	FinalizerControllerSlow    Code = "FinalizerControllerSlow"
	FinalizerControllerUnknown Code = "FinalizerControllerUnknown"
	FinalizerControllerPaused  Code = "FinalizerControllerPaused"
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
	DrainBlocked               Code = "DrainBlocked"
)

// Stuck has the codes of stuck. An error does not go away by itself.
var Stuck = &Family{
	Title: "Codes of stuck",
	Found: "in the findings of stuck",
	Meanings: slices.Concat([]Meaning{
		{Code: FinalizerControllerGone, Severity: Error, Long: "A finalizer holds the object, and no controller that could remove it runs: everything that could show one was read."},
		{Code: FinalizerControllerSlow, Severity: Warning, Long: "A finalizer holds the object. Its controller exists but does not remove it."},
		{Code: FinalizerControllerUnknown, Severity: Warning, Long: "A finalizer holds the object. Whether anything removes it is unknown."},
		{Code: FinalizerControllerPaused, Severity: Error, Long: "A finalizer holds the object. An annotation, a label or a field pauses its controller, or what it waits for can no longer happen."},
		{Code: FinalizerControllerAlive, Severity: Info, Long: "A finalizer holds the object. Its controller is running."},
		{Code: StillInUse, Severity: Error, Long: "A finalizer protects the object while it is used, such as a PVC by a pod, or while its status says so, and the use does not end by itself."},
		{Code: SelfBlock, Severity: Error, Long: "An owner reference of the object to itself blocks its foreground deletion: this never ends by itself."},
		{Code: WaitingCycle, Severity: Error, Long: "Objects that are being deleted in the foreground wait for one another: this never ends by itself."},
		{Code: LiveDependentBlocks, Severity: Error, Long: "The object is being deleted in the foreground, and the garbage collector does not delete a blocking dependent."},
		{Code: OrphaningStuck, Severity: Error, Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: DeletionForgotten, Severity: Error, Long: "The garbage collector has missed the deletion and ignores it until it restarts."},
		{Code: KindNotServed, Severity: Error, Long: "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{Code: GracePeriod, Severity: Info, Long: "The grace period of the pod runs."},
		{Code: EndNotSeen, Severity: Warning, Long: "What the object waits for was not seen."},
		{Code: ManagerNotSeen, Severity: Warning, Long: "Only controllers of kube-controller-manager hold the object. Whether that runs is unknown: its lease is missing or expired."},
		{Code: UnderWay, Severity: Info, Long: "Everything that holds the object goes by itself."},
		{Code: DrainBlocked, Severity: Warning, Long: "The node is cordoned, and all pods that a drain evicts are gone except those that a PodDisruptionBudget protects. A drain cannot end; whether one is running is not recorded."},
	}, standstill),
}

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
	WebhookDown             Code = "WebhookDown"
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
		{Code: WebhookDown, Severity: Warning, Long: "A webhook that must admit deletes or updates, or converts custom resources, does not answer: the API server refuses the requests that need it, also those of the garbage collector."},
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

// Causes of a loss.
const (
	OwnerReplaced     Code = "OwnerReplaced"
	OwnerWaits        Code = "OwnerWaits"
	OwnerOrphans      Code = "OwnerOrphans"
	ReferenceRemoved  Code = "ReferenceRemoved"
	NamespaceDeleted  Code = "NamespaceDeleted"
	DefinitionDeleted Code = "DefinitionDeleted"
	ServiceGone       Code = "ServiceGone"
	EndpointsGone     Code = "EndpointsGone"
	ClaimGone         Code = "ClaimGone"
	VersionGone       Code = "VersionGone"
	Controller        Code = "Controller"
	ControllerChanged Code = "ControllerChanged"
	Evicted           Code = "Evicted"
	CleanedUp         Code = "CleanedUp"
	ByKubernetes      Code = "ByKubernetes"
	NamespaceUnknown  Code = "NamespaceUnknown"
	DefinitionUnknown Code = "DefinitionUnknown"
	KindUnknown       Code = "KindUnknown"
	Before            Code = "Before"
	Unseen            Code = "Unseen"
)

// Lost has the causes of losses. Short completes a sentence about the object, and may be followed
// by the name of the object that it went with.
var Lost = &Family{
	Title: "Causes of losses",
	Found: "in the losses of lost",
	Meanings: []Meaning{
		{Code: Requested, Short: "deleted on request", Long: "A client sent a DELETE for the object itself."},
		{Code: OwnerGone, Short: "went with its owner", Long: "The garbage collector deleted it, because its last owner was gone."},
		{Code: OwnerReplaced, Short: "belonged to an earlier owner", Long: "The garbage collector deleted it, because the object with the name of its owner has another uid."},
		{Code: OwnerNamespaceMismatch, Short: "belonged to an owner in another namespace:", Long: "The garbage collector deleted it, because its owner is in another namespace, which references cannot cross."},
		{Code: OwnerWaits, Short: "went ahead of its owner", Long: "The garbage collector deleted it, because its owner was being deleted in the foreground and waited for its dependents."},
		{Code: OwnerOrphans, Short: "released by its owner", Long: "The garbage collector removed its reference to an owner that is deleted with the policy Orphan: it stays."},
		{Code: ReferenceRemoved, Short: "lost its owner", Long: "The garbage collector removed its reference to an owner that is gone or waits for its dependents. Another owner keeps it."},
		{Code: NamespaceDeleted, Short: "went with its namespace", Long: "The namespace controller deleted it with its namespace."},
		{Code: DefinitionDeleted, Short: "went with its CRD", Long: "The API server deleted it with the CRD of its kind."},
		{Code: AccountGone, Short: "went with its ServiceAccount", Long: "It was the token of a ServiceAccount that is gone."},
		{Code: ServiceGone, Short: "went with its Service", Long: "It was created for a Service that is gone."},
		{Code: EndpointsGone, Short: "went with its Endpoints", Long: "It was an EndpointSlice that mirrored Endpoints that are gone."},
		{Code: ClaimGone, Short: "went with its PVC", Long: "The PVC of the volume is gone, and its reclaim policy is Delete."},
		{Code: VersionGone, Short: "went with the API version that it registered:", Long: "It was the APIService of a version that no CRD serves any more."},
		{Code: NodeGone, Short: "went with its node", Long: "The node of the pod is gone."},
		{Code: Controller, Short: "deleted by its controller", Long: "Its controller exists and may have deleted it."},
		{Code: ControllerChanged, Short: "scaled down or replaced by its controller", Long: "Its controller was scaled or updated shortly before."},
		{Code: Evicted, Short: "evicted", Long: "The pod may have been evicted from its node, or preempted."},
		{Code: CleanedUp, Short: "cleaned up by Kubernetes", Long: "Kubernetes deletes objects of this kind when they are expired or no longer needed."},
		{Code: ByKubernetes, Short: "deleted by Kubernetes itself", Long: "The audit log names a component of Kubernetes as the sender of the DELETE. The history does not show its reason."},
		{Code: OwnerUnknown, Short: "went with an owner that was not seen:", Long: "An owner was not seen: the garbage collector may have deleted it."},
		{Code: NamespaceUnknown, Short: "went with a namespace that was not seen:", Long: "Its namespace was not seen: the namespace controller may have deleted it."},
		{Code: DefinitionUnknown, Short: "went with a CRD that was not seen:", Long: "The CRD of its kind was not seen: the API server may have deleted it with the CRD."},
		{Code: KindUnknown, Short: "of a kind that is not served any more", Long: "Its kind is not served: what deletes such objects is unknown."},
		{Code: Before, Short: "was being deleted before the history begins", Long: "Its deletion began before the history does."},
		{Code: Unseen, Short: "not seen when it went", Long: "Its earlier state, or its end, is unknown."},
	},
}

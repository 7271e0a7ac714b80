package reason

import "slices"

// Reasons of outcomes in a plan in addition to those of the collector.
const (
	Requested              Code = "Requested"
	RequestRefused         Code = "RequestRefused"
	FinalizerRemains       Code = "FinalizerRemains"
	BlockingDependents     Code = "BlockingDependents"
	WaitsForItself         Code = "WaitsForItself"
	CycleOfWaiting         Code = "CycleOfWaiting"
	OrphaningFails         Code = "OrphaningFails"
	GracePeriodRuns        Code = "GracePeriodRuns"
	ContentRemains         Code = "ContentRemains"
	DiscoveryFails         Code = "DiscoveryFails"
	ContentNotCovered      Code = "ContentNotCovered"
	DependentUnknown       Code = "DependentUnknown"
	DependentsNotCovered   Code = "DependentsNotCovered"
	OwnerUnknown           Code = "OwnerUnknown"
	DeletionMissed         Code = "DeletionMissed"
	HolderNotShown         Code = "HolderNotShown"
	SharedUID              Code = "SharedUID"
	MissingUID             Code = "MissingUID"
	InUse                  Code = "InUse"
	ProtectionUnknown      Code = "ProtectionUnknown"
	LeftAlone              Code = "LeftAlone"
	Released               Code = "Released"
	DeletedByController    Code = "DeletedByController"
	Protected              Code = "Protected"
	NotAskedFor            Code = "NotAskedFor"
	FinalizerTaken         Code = "FinalizerTaken"
	VolumeReclaimed        Code = "VolumeReclaimed"
	VolumeRetained         Code = "VolumeRetained"
	VolumeRecycled         Code = "VolumeRecycled"
	VolumeUnknown          Code = "VolumeUnknown"
	FinalizerComesOff      Code = "FinalizerComesOff"
	UntilFinalizerComesOff Code = "UntilFinalizerComesOff"
	ConversionFails        Code = "ConversionFails"
	WebhookUnknown         Code = "WebhookUnknown"
	AccountGone            Code = "AccountGone"
	Unobstructed           Code = "Unobstructed"
	TokenUnknown           Code = "TokenUnknown"
	NodeUnknown            Code = "NodeUnknown"
	PVCLeft                Code = "PVCLeft"
	PVCOwnerPending        Code = "PVCOwnerPending"
	TokenReferenceRemoved  Code = "TokenReferenceRemoved"
	RulesAggregated        Code = "RulesAggregated"
	RulesUnknown           Code = "RulesUnknown"
	NamespaceOrderUnknown  Code = "NamespaceOrderUnknown"
	OwnerMisnamed          Code = "OwnerMisnamed"
	UpdateUnknown          Code = "UpdateUnknown"
	MayBeOrphaned          Code = "MayBeOrphaned"
	Undeployed             Code = "Undeployed"
	InventoryRemote        Code = "InventoryRemote"
	InventoryUnknown       Code = "InventoryUnknown"
	HookUnknown            Code = "HookUnknown"
	MayDeleteOthers        Code = "MayDeleteOthers"
	MadeForIt              Code = "MadeForIt"
	FinalizerUnknown       Code = "FinalizerUnknown"
	ControllerUnread       Code = "ControllerUnread"
)

// Plan has the reasons of effects and steps in addition to those of the collector.
var Plan = &Family{
	Title: "Reasons of a plan",
	Found: "in effects and steps",
	Meanings: slices.Concat([]Meaning{
		{Code: Requested, Short: "you ask for it"},
		{Code: RequestRefused, Short: "the server refuses the request"},
		{Code: FinalizerRemains, Short: "a finalizer remains", Long: "A finalizer that the garbage collector does not remove holds it."},
		{Code: BlockingDependents, Short: "dependents block the deletion", Long: "It is being deleted in the foreground, and a blocking dependent stays."},
		{Code: WaitsForItself, Short: "it blocks its own deletion", Long: "An owner reference to itself blocks its foreground deletion: this never ends by itself."},
		{Code: CycleOfWaiting, Short: "objects wait for each other in a cycle", Long: "Objects that are being deleted wait for one another: this never ends by itself."},
		{Code: OrphaningFails, Short: "a reference of a dependent cannot be removed", Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: GracePeriodRuns, Short: "the grace period runs", Long: "The grace period of the pod runs, and no kubelet is known to finish it."},
		{Code: ContentRemains, Short: "part of its content remains"},
		{Code: DiscoveryFails, Short: "the API server cannot name all resources", Long: "The resources of an API version are unknown, so the namespace is not known to be empty."},
		{Code: ContentNotCovered, Short: "part of its content is unknown", Long: "The snapshot does not cover all content of the namespace or CRD."},
		{Code: NamespaceOrderUnknown, Short: "its namespace may not wait for its pods", Long: "It stays as long as its namespace has pods, unless the release of the cluster deletes it at once."},
		{Code: OwnerMisnamed, Short: "a reference names its owner in a wrong place", Long: "A reference of this or another object names the owner in a wrong place. The release of the cluster identifies owners by uid alone, and may delete every dependent of this owner."},
		{Code: UpdateUnknown, Short: "its namespace is gone, and the server may refuse to update it", Long: "Its namespace is gone, and a finalizer or owner reference has to be removed from it. API servers before v1.37 refuse that, and the version is unknown."},
		{Code: MayBeOrphaned, Short: "the controller of its owner may orphan it", Long: "The controller of its owner may remove its owner references before the owner is gone. A field or flag that was not read decides."},
		{Code: DependentUnknown, Short: "the outcome of a dependent is unknown", Long: "It waits for a dependent with an unknown outcome."},
		{Code: DependentsNotCovered, Short: "some dependents may be unknown", Long: "Its finalizer goes after its dependents, and the snapshot does not cover every kind that may have some."},
		{Code: OwnerUnknown, Short: "the outcome of its owner is unknown", Long: "Its outcome depends on an owner with an unknown outcome."},
		{Code: DeletionMissed, Short: "the garbage collector has missed the start of the deletion", Long: "The garbage collector has missed the start of the deletion and ignores it until it restarts."},
		{Code: HolderNotShown, Short: "the snapshot does not show what holds it", Long: "It is being deleted and has no finalizer. The dump may lack its finalizers, or it is gone by now."},
		sharedUID,
		{Code: MissingUID, Short: "it has no UID", Long: "It has no uid in the snapshot, so its dependents are unknown."},
		{Code: InUse, Short: "it is still in use", Long: "A finalizer protects it while it is used, such as a PVC by a pod on a node, or a GatewayClass by a Gateway."},
		{Code: ProtectionUnknown, Short: "what uses it is unknown", Long: "The snapshot does not show what uses the PVC or volume, or what manages the Job, so whether a finalizer remains."},
		{Code: LeftAlone, Short: "no controller of Kubernetes removes the finalizer", Long: "The controller of the finalizer does not remove it from this object."},
		{Code: Released, Short: "a finalizer that protects it is removed", Long: "A controller of Kubernetes removes the finalizer that protects or counts it."},
		{Code: DeletedByController, Short: "another controller deletes it", Long: "Another controller deletes it, as with the content of a namespace or CRD, or the pods of a node."},
		{Code: Undeployed, Short: "a deployer deletes it with its own object", Long: "A deployer, such as Argo CD or Flux, deletes it with the object that deployed it."},
		{Code: InventoryRemote, Short: "what it has deployed is in another cluster", Long: "What its deployer deletes with it is in another cluster."},
		{Code: InventoryUnknown, Short: "what its controller deletes with it is unknown", Long: "Its controller deletes other objects with it, and their list is not in the snapshot or cannot be read."},
		{Code: HookUnknown, Short: "what a hook does is unknown", Long: "A hook of the Helm release or Application runs pods. What they delete is unknown."},
		{Code: MayDeleteOthers, Short: "its controller may delete others with it", Long: "A running controller that this program does not know removes a finalizer from it, and may delete other objects first."},
		{Code: MadeForIt, Short: "a controller deletes what it made for it", Long: "A controller has made objects for it, which their labels say, and deletes them once it is gone. It has no finalizer on it, and they have no owner references."},
		{Code: FinalizerUnknown, Short: "what its finalizer is for is unknown", Long: "This program does not know a finalizer of it, nor whether a controller that removes it runs. It may be a lock, and the controller may delete other objects first."},
		{Code: ControllerUnread, Short: "whether its finalizer's controller runs could not be read", Long: "This program does not know a finalizer of it, and could not read the pods, workloads or permissions that show whether its controller runs. That may delete other objects first: a live delete needs --unlock=unseen."},
		{Code: Protected, Short: "this program does not delete it: it is protected", Long: "It is garbage, and its kind, name or an annotation protects it from this program."},
		{Code: NotAskedFor, Short: "it is outside of the requested namespaces", Long: "It is garbage, but outside of the namespaces that this program may collect in."},
		{Code: FinalizerTaken, Short: "a finalizer is removed on request"},
		{Code: VolumeReclaimed, Short: "its PVC goes, and the volume with it", Long: "Its PVC is deleted, with the policy Delete: volume and storage are deleted."},
		{Code: VolumeRetained, Short: "its PVC goes, and it stays with its data", Long: "Its PVC is deleted, with the policy Retain: it stays with its data, and no PVC gets it."},
		{Code: VolumeRecycled, Short: "its PVC goes, and its data is erased", Long: "Its PVC is deleted, with the policy Recycle: it stays, and its data is erased."},
		{Code: VolumeUnknown, Short: "its outcome without its PVC is unknown", Long: "Its PVC is deleted or may be, and the outcome of the volume is unknown."},
		{Code: FinalizerComesOff, Short: "a controller removes its finalizer"},
		{Code: UntilFinalizerComesOff, Short: "it stays until a finalizer is removed", Long: "It stays as long as a finalizer holds an object that it depends on."},
		{Code: ConversionFails, Short: "its conversion webhook does not answer", Long: "Its conversion webhook does not answer, so every request that needs it fails."},
		{Code: WebhookUnknown, Short: "an unreachable webhook may apply", Long: "A webhook does not answer, and whether it applies is unknown."},
		{Code: AccountGone, Short: "its ServiceAccount goes or does not exist", Long: "It is the token of a ServiceAccount that is deleted or absent: the tokens controller deletes it, whatever its owners."},
		{Code: Unobstructed, Short: "its deletion was obstructed, and goes on", Long: "It was being deleted already, and an APIService, webhook or policy obstructed that, which goes: the deletion continues."},
		{Code: TokenUnknown, Short: "it may be the token of a ServiceAccount that goes", Long: "It names a ServiceAccount that goes or may go. Whether it is a token, and goes with it, is unknown."},
		{Code: NodeUnknown, Short: "unknown whether its node is deleted", Long: "Whether the node of the pod goes is unknown. If it does, pod GC deletes the pod."},
		{Code: PVCLeft, Short: "its StatefulSet goes and leaves it", Long: "StatefulSets leave their PVCs: it stays with its data until it is deleted by hand."},
		{Code: PVCOwnerPending, Short: "its StatefulSet goes and may take it", Long: "The retention policy of its StatefulSet deletes it, but it does not refer to the StatefulSet yet: it goes if the StatefulSet controller adds the reference before the delete."},
		{Code: TokenReferenceRemoved, Short: "a token that it names goes", Long: "Its `secrets` name a token that goes: the tokens controller removes the name from the ServiceAccount, which stays."},
		{Code: RulesAggregated, Short: "a ClusterRole that it aggregates goes", Long: "Its `aggregationRule` selects a ClusterRole that goes: the aggregation controller removes the rules that came from that. It stays."},
		{Code: RulesUnknown, Short: "a ClusterRole that it aggregates goes, and others may allow the same", Long: "As RulesAggregated, but not all ClusterRoles were seen: another one may have the same rules."},
	}, standstill),
}

// Results of the rules of the collector.
const (
	NoOwners                 Code = "NoOwners"
	ExistingOwner            Code = "ExistingOwner"
	DanglingReferences       Code = "DanglingReferences"
	NoExistingOwner          Code = "NoExistingOwner"
	WaitingOwner             Code = "WaitingOwner"
	WaitingOwnerInCycle      Code = "WaitingOwnerInCycle"
	NoBlockingDependents     Code = "NoBlockingDependents"
	WaitingForDependents     Code = "WaitingForDependents"
	BeingDeleted             Code = "BeingDeleted"
	NotFound                 Code = "NotFound"
	UIDMismatch              Code = "UIDMismatch"
	OwnerRefInvalidNamespace Code = "OwnerRefInvalidNamespace"
	UnknownOwnerKind         Code = "UnknownOwnerKind"
	OwnerNotCovered          Code = "OwnerNotCovered"
	ObjectNotCovered         Code = "ObjectNotCovered"
	LookupFailed             Code = "LookupFailed"
	OrphanDependents         Code = "OrphanDependents"
	NotObserved              Code = "NotObserved"
	AbsenceNotProven         Code = "AbsenceNotProven"
	Contended                Code = "Contended"
)

// Collector has the reasons of the garbage collector.
var Collector = &Family{
	Title: "Reasons of the garbage collector",
	Found: "in effects, steps and explanations",
	Meanings: []Meaning{
		{Code: NoOwners, Short: "it has no owners", Long: "It has no owner references: the collector never deletes it."},
		{Code: ExistingOwner, Short: "an owner exists and does not wait for its dependents", Long: "An owner exists and does not wait for its dependents: it stays."},
		{Code: DanglingReferences, Short: "an owner keeps it; references to other owners are removed", Long: "An owner exists: it stays. Its references to absent or waiting owners are removed."},
		{Code: NoExistingOwner, Short: "every owner is absent", Long: "Every owner is absent: it is garbage and is deleted."},
		{Code: WaitingOwner, Short: "an owner waits for its deletion, and no other owner keeps it", Long: "No owner keeps it, and an owner that is being deleted in the foreground waits for it: it is deleted."},
		{Code: WaitingOwnerInCycle, Short: "an owner waits for its deletion, and the owners may form a cycle", Long: "As WaitingOwner, and a dependent of it waits: first its references stop blocking, in case the owners form a cycle."},
		{Code: NoBlockingDependents, Short: "no dependent blocks the deletion any more", Long: "No dependent blocks its foreground deletion: the finalizer foregroundDeletion is removed."},
		{Code: WaitingForDependents, Short: "dependents block the deletion", Long: "Its foreground deletion waits for blocking dependents."},
		{Code: BeingDeleted, Short: "it is already being deleted", Long: "It is already being deleted and does not wait for dependents: it is ignored."},
		{Code: NotFound, Short: "it does not exist", Long: "It is gone. Its dependents are examined."},
		{Code: UIDMismatch, Short: "an object of that name has another UID", Long: "An object of that name has another uid: the original is gone."},
		{Code: OwnerRefInvalidNamespace, Short: "it is cluster-scoped and refers to a namespaced owner", Long: "It is cluster-scoped, and its namespaced owner cannot be looked up: it stays and is never retried."},
		{Code: UnknownOwnerKind, Short: "the kind of an owner is not known to be served", Long: "The kind of an owner is not served: it stays and is retried forever."},
		ownerNotCovered,
		{Code: ObjectNotCovered, Short: "the snapshot does not cover it", Long: "The snapshot does not cover it: it may or may not exist."},
		{Code: LookupFailed, Short: "a read failed", Long: "A read failed, or an owner has an impossible name: the attempt is repeated."},
		{Code: OrphanDependents, Short: "the Orphan policy removes the references of its dependents first", Long: "The Orphan policy removes the references of its dependents, then the finalizer orphan."},
		{Code: NotObserved, Short: "it exists, but its kind is not watched", Long: "Its kind is not watched: it is requested again and again."},
		{Code: AbsenceNotProven, Short: "it is not proven that an owner is absent", Long: "Kubernetes' collector would call an owner absent, but that is not proven: by the strict rules it stays."},
		{Code: Contended, Short: "it changed repeatedly while it was judged", Long: "It changed repeatedly between read and write: it stays, and is tried again later."},
	},
}

// Reasons why a deletion does not progress, in plans and in the findings of stuck.
const (
	NodeNotReady           Code = "NodeNotReady"
	NodeGone               Code = "NodeGone"
	APIServiceUnavailable  Code = "APIServiceUnavailable"
	WebhookUnreachable     Code = "WebhookUnreachable"
	PolicyDenies           Code = "PolicyDenies"
	PolicyUnknown          Code = "PolicyUnknown"
	CollectorNotWorking    Code = "CollectorNotWorking"
	ControllerNotWorking   Code = "ControllerNotWorking"
	CRDCleanupFails        Code = "CRDCleanupFails"
	NamespaceDeletionFails Code = "NamespaceDeletionFails"
	PodNotFinished         Code = "PodNotFinished"
)

// standstill has the meanings that the families Plan and Stuck share.
var standstill = []Meaning{
	{Code: NodeNotReady, Severity: Error, Short: "its kubelet does not report", Long: "The kubelet of the node does not report (Ready is Unknown, or its heartbeat has stopped), so it does not end the pod."},
	{Code: NodeGone, Severity: Error, Short: "its node is gone", Long: "The node of the pod is gone: no kubelet ends the pod, and pod GC has not removed it."},
	{Code: APIServiceUnavailable, Severity: Error, Short: "an aggregated API does not answer", Long: "An aggregated API does not answer: no namespace can be emptied while discovery fails."},
	{Code: WebhookUnreachable, Severity: Error, Short: "a required webhook does not answer", Long: "A webhook must admit a request that its deletion needs, and does not answer."},
	{Code: PolicyDenies, Severity: Error, Short: "an admission policy denies it", Long: "A ValidatingAdmissionPolicy denies a request that its deletion needs. So does the webhook of Crossplane for objects that a Usage names, and that of OpenKruise for objects with its label."},
	{Code: PolicyUnknown, Severity: Warning, Short: "a policy or webhook may refuse it", Long: "A ValidatingAdmissionPolicy, or a webhook that depends on a label, may deny a request that its deletion needs. Its expression needs more than a snapshot has, or what it selects was not seen."},
	{Code: CollectorNotWorking, Severity: Error, Short: "the garbage collector does not do its part", Long: "Only the garbage collector holds it, and has not acted for minutes, or kube-controller-manager has given up its lease, or `--garbage-collector=stopped` assumes it."},
	{Code: ControllerNotWorking, Severity: Error, Short: "a controller does not do its part", Long: "Only a controller of Kubernetes holds it, and has not acted for minutes, or kube-controller-manager has given up its lease."},
	{Code: CRDCleanupFails, Severity: Error, Short: "its instances cannot be deleted", Long: "The API server says that it cannot delete the instances of the CRD, or has not deleted them for minutes."},
	{Code: NamespaceDeletionFails, Severity: Error, Short: "its content cannot be deleted", Long: "The namespace controller says that it cannot discover or delete the content of the namespace."},
	{Code: PodNotFinished, Severity: Warning, Short: "the kubelet has not ended it", Long: "The grace period of the pod ended minutes ago, and the kubelet has not ended the pod. Its node is not known to be broken."},
}

// Overdue reports whether a code says that a controller is overdue with a deletion, or fails to finish
// it.
func (c Code) Overdue() bool {
	switch c {
	case CollectorNotWorking, ControllerNotWorking, CRDCleanupFails, NamespaceDeletionFails, PodNotFinished, DeletionMissed:
		return true
	default:
		return false
	}
}

// Reasons of an explanation in addition to those of the collector.
const (
	OwnerIsGarbage Code = "OwnerIsGarbage"
)

// Explanation has the reasons of an explanation in addition to those of the collector.
var Explanation = &Family{
	Title: "Reasons of an explanation",
	Found: "in addition to those of the garbage collector",
	Meanings: []Meaning{
		{Code: OwnerIsGarbage, Short: "its owner is garbage itself", Long: "Its owner still exists and is garbage itself: it is deleted after the owner."},
	},
}

// Reasons of a delete by time or number.
const (
	TTLAfterFinished      Code = "TTLAfterFinished"
	RequestExpires        Code = "RequestExpires"
	EventExpires          Code = "EventExpires"
	BootstrapTokenExpires Code = "BootstrapTokenExpires"
	UnusedTokenCleaned    Code = "UnusedTokenCleaned"
	KyvernoTTL            Code = "KyvernoTTL"
	LeaseExpires          Code = "LeaseExpires"
	FinishedPodLimit      Code = "FinishedPodLimit"
	HistoryLimit          Code = "HistoryLimit"
)

// Expiry has the reasons of deletes by time or number.
var Expiry = &Family{
	Title: "Reasons of deletes by time",
	Found: "in `expiry` of effects and explanations",
	Meanings: []Meaning{
		{Code: TTLAfterFinished, Short: "its ttlSecondsAfterFinished", Long: "The TTL-after-finished controller deletes a finished Job in the foreground."},
		{Code: RequestExpires, Short: "requests for certificates are deleted after a time"},
		{Code: EventExpires, Short: "the API server keeps events for an hour", Long: "The API server keeps events for an hour, unless its `--event-ttl` differs."},
		{Code: BootstrapTokenExpires, Short: "it is a bootstrap token, which may expire"},
		{Code: UnusedTokenCleaned, Short: "it is a token that was not used for a year"},
		{Code: KyvernoTTL, Short: "its label cleanup.kyverno.io/ttl"},
		{Code: LeaseExpires, Short: "it is the Lease of an API server, which renews it while it runs"},
		{Code: FinishedPodLimit, Short: "it has finished, and pod GC limits the number of such pods"},
		{Code: HistoryLimit, Short: "the controller of its owner limits the number of old ones"},
	},
}

// Reasons not to remove a finalizer.
const (
	NotBeingDeleted         Code = "NotBeingDeleted"
	FinalizerNotThere       Code = "FinalizerNotThere"
	CollectorFinalizer      Code = "CollectorFinalizer"
	ConsumerExists          Code = "ConsumerExists"
	ConsumerUnknown         Code = "ConsumerUnknown"
	InstancesExist          Code = "InstancesExist"
	InstancesUnknown        Code = "InstancesUnknown"
	NamespaceNotEmpty       Code = "NamespaceNotEmpty"
	NamespaceContentUnknown Code = "NamespaceContentUnknown"
	LeaksOutside            Code = "LeaksOutside"
)

// Refusal has the reasons not to remove a finalizer.
var Refusal = &Family{
	Title: "Reasons not to remove a finalizer",
	Found: "in the refusals of remove-finalizer; in parentheses the flag that lifts it",
	Meanings: []Meaning{
		{Code: NotBeingDeleted, Short: "the object is not being deleted", Long: "The object is not being deleted: the finalizer holds nothing up, and its controller would add it again. Nothing lifts this."},
		{Code: FinalizerNotThere, Short: "the object does not have it", Long: "The object does not have it. Nothing lifts this."},
		{Code: CollectorFinalizer, Short: "it is the garbage collector's", Long: "It is the garbage collector's, which behaves differently without it (`--unlock=gc`)."},
		{Code: ConsumerExists, Short: "the object is in use", Long: "It protects the object, which is in use (`--unlock=in-use`)."},
		{Code: ConsumerUnknown, Short: "unknown whether the object is in use", Long: "It protects the object, which may be in use (`--unlock=in-use`)."},
		{Code: InstancesExist, Short: "the CRD has instances", Long: "The CRD has instances (`--unlock=instances`)."},
		{Code: InstancesUnknown, Short: "unknown whether the CRD has instances", Long: "The CRD may have instances (`--unlock=instances`)."},
		{Code: NamespaceNotEmpty, Short: "the namespace has content", Long: "The namespace has content (`--unlock=content`)."},
		{Code: NamespaceContentUnknown, Short: "unknown whether the namespace is empty", Long: "The namespace may have content that could not be listed (`--unlock=content`)."},
		{Code: LeaksOutside, Short: "it represents something outside the cluster", Long: "It is the last pointer to something outside of the cluster (`--unlock=leak`)."},
	},
}

// Reasons not to delete garbage.
const (
	ProtectedNamespace    Code = "ProtectedNamespace"
	ProtectedByAnnotation Code = "ProtectedByAnnotation"
	ProtectedByHelm       Code = "ProtectedByHelm"
	ProtectedKind         Code = "ProtectedKind"
	ProtectedOutside      Code = "ProtectedOutside"
	NotLeading            Code = "NotLeading"
	SafetyLimitTripped    Code = "SafetyLimitTripped"
	Gathering             Code = "Gathering"
)

// ProtectingPart returns the part of an object that protects it.
func ProtectingPart(code Code) string {
	switch code {
	case ProtectedByAnnotation:
		return "annotation kubectl-gc.io/protect"
	case ProtectedByHelm:
		return "annotation helm.sh/resource-policy: keep"
	case ProtectedNamespace:
		return "name"
	default:
		return "kind"
	}
}

// Gate has the reasons not to delete garbage.
var Gate = &Family{
	Title: "Reasons not to delete",
	Found: "in the events, metrics and log of the controller; the first four in the refusals of `delete` and `collect`, too",
	Meanings: []Meaning{
		{Code: ProtectedNamespace, Long: "It is a namespace that the cluster depends on. Nothing lifts this."},
		{Code: ProtectedByAnnotation, Long: "It has the annotation kubectl-gc.io/protect, or may have it because it was never seen. Removing the annotation lifts this."},
		{Code: ProtectedByHelm, Long: "It has the annotation helm.sh/resource-policy: keep. Removing the annotation lifts this."},
		{Code: ProtectedKind, Long: "Its kind is protected until it is allowed."},
		{Code: ProtectedOutside, Long: "With it, data outside of the cluster is deleted, or may be (`--unlock=cloud`)."},
		{Code: NotLeading, Short: "the lease was not renewed in time, so another replica may lead"},
		{Code: SafetyLimitTripped, Short: "the safety limit has tripped: nothing is written until a person approves", Long: "More would be deleted than the limit allows: nothing is written until a person approves."},
		{Code: Gathering, Short: "it has just become garbage, and more may follow"},
	},
}

// Differences of older releases of Kubernetes from the newest.
const (
	NamespaceUnordered Code = "NamespaceUnordered"
	OwnerMisplaced     Code = "OwnerMisplaced"
	TokenRenewed       Code = "TokenRenewed"
	UpdateRefused      Code = "UpdateRefused"
)

// Release has the differences between releases.
var Release = &Family{
	Title: "Differences between releases",
	Found: "in versionDifferences of a source: what releases before the named one do",
	Meanings: []Meaning{
		{Code: NamespaceUnordered, Short: "a namespace's pods are not deleted first"},
		{Code: OwnerMisplaced, Short: "one owner reference to a wrong place can get every object with that owner deleted"},
		{Code: TokenRenewed, Short: "a ServiceAccount whose token is deleted gets a new one"},
		{Code: UpdateRefused, Short: "what is left of a namespace that is gone cannot be updated, and keeps its finalizers"},
	},
}

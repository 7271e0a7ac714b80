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
	TokenUnknown           Code = "TokenUnknown"
	NodeUnknown            Code = "NodeUnknown"
	PVCLeft                Code = "PVCLeft"
	TokenReferenceRemoved  Code = "TokenReferenceRemoved"
	RulesAggregated        Code = "RulesAggregated"
	RulesUnknown           Code = "RulesUnknown"
	NamespaceOrderUnknown  Code = "NamespaceOrderUnknown"
	OwnerMisnamed          Code = "OwnerMisnamed"
	UpdateUnknown          Code = "UpdateUnknown"
)

// Plan has the reasons of effects and steps in addition to those of the collector.
var Plan = &Family{
	Title: "Reasons of a plan",
	Found: "in effects and steps",
	Meanings: slices.Concat([]Meaning{
		{Code: Requested, Short: "you ask for it"},
		{Code: RequestRefused, Short: "the server refuses the request"},
		{Code: FinalizerRemains, Short: "a finalizer remains", Long: "A finalizer holds it that the garbage collector does not remove."},
		{Code: BlockingDependents, Short: "dependents block the deletion", Long: "It is being deleted in the foreground, and a blocking dependent stays."},
		{Code: WaitsForItself, Short: "it blocks its own deletion", Long: "It is being deleted in the foreground and blocks its own deletion by an owner reference to itself: this never ends by itself."},
		{Code: CycleOfWaiting, Short: "objects wait for each other in a cycle", Long: "Objects that are being deleted wait for one another: this never ends by itself."},
		{Code: OrphaningFails, Short: "a reference of a dependent cannot be removed", Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: GracePeriodRuns, Short: "the grace period runs", Long: "The grace period of the pod runs, and no kubelet is known to finish it."},
		{Code: ContentRemains, Short: "part of its content remains"},
		{Code: DiscoveryFails, Short: "the API server cannot name all resources", Long: "The API server cannot name the resources of an API version, so the namespace is not known to be empty."},
		{Code: ContentNotCovered, Short: "part of its content is unknown", Long: "The snapshot does not cover all content of the namespace or CRD."},
		{Code: NamespaceOrderUnknown, Short: "its namespace may not wait for its pods", Long: "It stays as long as its namespace has pods, unless the release of the cluster deletes it at once."},
		{Code: OwnerMisnamed, Short: "a reference names its owner in a wrong place", Long: "A reference of this or another object names the owner in a wrong place. The release of the cluster identifies owners by uid alone, and may delete every dependent of this owner."},
		{Code: UpdateUnknown, Short: "its namespace is gone, and the server may refuse to update it", Long: "Its namespace is gone, and a finalizer or owner reference has to be removed from it. Before v1.37 the API server refuses that, and the version of this one is unknown: it may stay as it is."},
		{Code: DependentUnknown, Short: "the outcome of a dependent is unknown", Long: "It waits for a dependent with an unknown outcome."},
		{Code: DependentsNotCovered, Short: "some dependents may be unknown", Long: "The garbage collector removes its finalizer after its dependents, and the snapshot does not cover every kind that may have some."},
		{Code: OwnerUnknown, Short: "the outcome of its owner is unknown", Long: "Its outcome depends on an owner with an unknown outcome."},
		{Code: DeletionMissed, Short: "the garbage collector has missed the start of the deletion", Long: "The garbage collector has missed the start of the deletion and ignores it until it restarts."},
		{Code: HolderNotShown, Short: "the snapshot does not show what holds it", Long: "It is being deleted and has no finalizer. The dump may lack its finalizers, or it is gone by now."},
		sharedUID,
		{Code: MissingUID, Short: "it has no UID", Long: "It has no uid in the snapshot, so its dependents are unknown."},
		{Code: InUse, Short: "it is still in use", Long: "A finalizer protects it while it is used: a PVC by a pod on a node, a device by a pod, a volume by a PVC, addresses by Services, a GatewayClass by a Gateway, a flavor by a ClusterQueue, a ProviderConfig by a ProviderConfigUsage."},
		{Code: ProtectionUnknown, Short: "what uses it is unknown", Long: "The snapshot does not show whether a finalizer of Kubernetes remains: what uses the PVC or volume, or what manages the Job."},
		{Code: LeftAlone, Short: "no controller of Kubernetes removes the finalizer", Long: "The controller of Kubernetes that knows the finalizer does not remove it from this object."},
		{Code: Released, Short: "a finalizer that protects it is removed", Long: "A controller of Kubernetes removes the finalizer that protects or counts it."},
		{Code: DeletedByController, Short: "another controller deletes it", Long: "A controller other than the garbage collector deletes it, such as the content of a namespace or CRD, or the pods of a node."},
		{Code: Protected, Short: "this program does not delete it: it is protected", Long: "It is garbage, and this program does not delete it: its kind, name or an annotation protects it."},
		{Code: NotAskedFor, Short: "it is outside of the requested namespaces", Long: "It is garbage, but outside of the namespaces that this program may collect in."},
		{Code: FinalizerTaken, Short: "a finalizer is removed on request"},
		{Code: VolumeReclaimed, Short: "its PVC goes, and the volume with it", Long: "Its PVC is deleted, and its reclaim policy is Delete: the volume and the storage behind it are deleted."},
		{Code: VolumeRetained, Short: "its PVC goes, and it stays with its data", Long: "Its PVC is deleted, and its reclaim policy is Retain: the volume stays with its data, and no PVC gets it."},
		{Code: VolumeRecycled, Short: "its PVC goes, and its data is erased", Long: "Its PVC is deleted, and its reclaim policy is Recycle: the volume stays, and its data is erased."},
		{Code: VolumeUnknown, Short: "its outcome without its PVC is unknown", Long: "Its PVC is deleted or may be, and the outcome of the volume is unknown."},
		{Code: FinalizerComesOff, Short: "a controller removes its finalizer"},
		{Code: UntilFinalizerComesOff, Short: "it stays until a finalizer is removed", Long: "It stays as long as a finalizer holds an object that it depends on."},
		{Code: ConversionFails, Short: "its conversion webhook does not answer", Long: "The webhook that converts its versions does not answer, so every request that needs it fails."},
		{Code: WebhookUnknown, Short: "an unreachable webhook may apply", Long: "A webhook does not answer, and whether it applies is unknown."},
		{Code: AccountGone, Short: "its ServiceAccount goes or does not exist", Long: "It is the token of a ServiceAccount that is deleted or absent: the tokens controller deletes it, whatever its owners."},
		{Code: TokenUnknown, Short: "it may be the token of a ServiceAccount that goes", Long: "It names a ServiceAccount that is deleted or may be. Whether it is a token, and goes with it, is unknown."},
		{Code: NodeUnknown, Short: "whether its node goes is not known", Long: "Whether the node of the pod goes is unknown. If it does, pod GC deletes the pod."},
		{Code: PVCLeft, Short: "its StatefulSet goes and leaves it", Long: "Its StatefulSet goes. StatefulSets leave their PVCs: it stays with its data until it is deleted by hand."},
		{Code: TokenReferenceRemoved, Short: "a token that it names goes", Long: "The `secrets` of the ServiceAccount name a token that goes: the tokens controller removes the name. The account stays."},
		{Code: RulesAggregated, Short: "a ClusterRole that it aggregates goes", Long: "The `aggregationRule` of the ClusterRole selects one that goes: the ClusterRole aggregation controller removes its rules. It stays."},
		{Code: RulesUnknown, Short: "a ClusterRole that it aggregates goes, and others may allow the same", Long: "As RulesAggregated, but not all ClusterRoles were seen, and another one may have the same rules: whether rules are removed is unknown."},
	}, standstill),
}

package reason

import "slices"

// What else decides about an object in a plan.
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

// Plan are the reasons of effects and steps beside those of the collector.
var Plan = &Family{
	Title: "Reasons of a plan",
	Found: "in effects and steps",
	Meanings: slices.Concat([]Meaning{
		{Code: Requested, Short: "you ask for it", Long: "The user asked for it."},
		{Code: RequestRefused, Short: "the server refuses the request", Long: "The API server refuses the request."},
		{Code: FinalizerRemains, Short: "a finalizer remains", Long: "A finalizer that the garbage collector does not remove holds the object."},
		{Code: BlockingDependents, Short: "dependents block the deletion", Long: "The object is being deleted in the foreground and a blocking dependent stays."},
		{Code: WaitsForItself, Short: "it blocks its own deletion", Long: "The object is being deleted in the foreground and blocks itself with its own owner reference: this never ends by itself."},
		{Code: CycleOfWaiting, Short: "objects wait for each other in a cycle", Long: "Objects that are all being deleted wait for one another: this never ends by itself."},
		{Code: OrphaningFails, Short: "a reference of a dependent cannot be removed", Long: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: GracePeriodRuns, Short: "the grace period runs", Long: "The grace period of the pod runs, and no kubelet is known to finish it."},
		{Code: ContentRemains, Short: "part of its content remains", Long: "The namespace or CRD still has content."},
		{Code: DiscoveryFails, Short: "the API server cannot name all resources", Long: "The API server cannot name the resources of an API version, so that the namespace cannot be shown to be empty."},
		{Code: ContentNotCovered, Short: "nothing is known of part of its content", Long: "The snapshot does not show all of the content of the namespace or CRD."},
		{Code: NamespaceOrderUnknown, Short: "its namespace may not wait for its pods", Long: "By the rules the object stays as long as its namespace has pods. The release of the cluster may delete it at once."},
		{Code: OwnerMisnamed, Short: "a reference names its owner in a wrong place", Long: "A reference, of this object or of another one, names the owner in a wrong place. The release of the cluster knows owners by their uid alone, and may delete everything that refers to this one."},
		{Code: UpdateUnknown, Short: "its namespace is gone, and the server may refuse to update it", Long: "A finalizer or an owner reference is removed from the object, whose namespace is gone. Before v1.37 the API server refuses to update what is left of such a namespace, and the version of this one is not known: the object may stay as it is."},
		{Code: DependentUnknown, Short: "nothing is known of a dependent", Long: "The object waits for a dependent with an unknown outcome."},
		{Code: DependentsNotCovered, Short: "its dependents may not all be known", Long: "The garbage collector removes its finalizer once it has dealt with the dependents, and the snapshot does not show every kind that may have some."},
		{Code: OwnerUnknown, Short: "nothing is known of what becomes of its owner", Long: "Only an owner with an unknown outcome decides about the object."},
		{Code: DeletionMissed, Short: "the garbage collector has missed the start of the deletion", Long: "The garbage collector has missed the start of this deletion and will not look again until it restarts."},
		{Code: HolderNotShown, Short: "what holds it is not shown", Long: "The object is being deleted and has no finalizer, so that it would be gone: its finalizers may have been cut out of the dump, or it is gone by now."},
		sharedUID,
		{Code: MissingUID, Short: "it has no UID", Long: "The object has no uid in the snapshot, so that its dependents are unknown."},
		{Code: InUse, Short: "it is still in use", Long: "A finalizer protects the object: a pod on a node uses the PVC, a pod reserves the device, a PVC has the volume, Services have addresses of the range, a Gateway names the class, a ClusterQueue the flavor, or a ProviderConfigUsage the ProviderConfig."},
		{Code: ProtectionUnknown, Short: "what uses it is unknown", Long: "The snapshot does not show whether a finalizer of Kubernetes stays: what uses the PVC or the volume, or what manages the Job."},
		{Code: LeftAlone, Short: "no controller of Kubernetes removes the finalizer", Long: "The object has a finalizer that the controller of Kubernetes which knows it does not remove from this object."},
		{Code: Released, Short: "a finalizer that protects it has served", Long: "A controller of Kubernetes removes the finalizer that protects or counts the object."},
		{Code: DeletedByController, Short: "another controller deletes it", Long: "A controller other than the garbage collector deletes the object: the content of a namespace or a CRD, or the pods of a node, go with it."},
		{Code: Protected, Short: "this program does not delete it: it is protected", Long: "The object is garbage, and this program does not delete it: its kind, its name or an annotation protects it."},
		{Code: NotAskedFor, Short: "it is outside of the namespaces that were asked for", Long: "The object is garbage, but outside the namespaces in which this program may collect."},
		{Code: FinalizerTaken, Short: "a finalizer is removed on request", Long: "A finalizer is removed on request."},
		{Code: VolumeReclaimed, Short: "its PVC goes, and the volume with it", Long: "The PVC of the volume goes, and its reclaim policy is Delete: the volume goes, and the storage behind it."},
		{Code: VolumeRetained, Short: "its PVC goes, and it stays with its data", Long: "The PVC of the volume goes, and its reclaim policy is Retain: the volume stays with its data, and no PVC gets it."},
		{Code: VolumeRecycled, Short: "its PVC goes, and its data is erased", Long: "The PVC of the volume goes, and its reclaim policy is Recycle: the volume stays, and its data is erased."},
		{Code: VolumeUnknown, Short: "its outcome without its PVC is unknown", Long: "The PVC of the volume goes or may go, and what then becomes of the volume is not known."},
		{Code: FinalizerComesOff, Short: "its controller takes a finalizer off", Long: "The controller of a finalizer removes it."},
		{Code: UntilFinalizerComesOff, Short: "it stays until a finalizer is removed", Long: "The object stays as long as a finalizer holds what it depends on."},
		{Code: ConversionFails, Short: "its conversion webhook does not answer", Long: "The webhook that converts the versions of the object does not answer, so that every request that needs it fails."},
		{Code: WebhookUnknown, Short: "it is not known whether a webhook is asked that does not answer", Long: "A webhook does not answer, and whether it has to be asked is not known."},
		{Code: AccountGone, Short: "its ServiceAccount goes or does not exist", Long: "The Secret is the token of a ServiceAccount that goes or does not exist: the tokens controller deletes it, whatever its owners."},
		{Code: TokenUnknown, Short: "it may be the token of a ServiceAccount that goes", Long: "The ServiceAccount that the Secret names goes or may go, and whether the Secret is a token and goes with it is not known."},
		{Code: NodeUnknown, Short: "whether its node goes is not known", Long: "Whether the node that the pod is bound to goes is not known. If it does, pod GC deletes the pod."},
		{Code: PVCLeft, Short: "its StatefulSet goes and leaves it", Long: "The StatefulSet that created the PVC goes. StatefulSets leave their PVCs: it stays with its data until it is deleted by hand."},
		{Code: TokenReferenceRemoved, Short: "a token that it names goes", Long: "The ServiceAccount names a token that goes in its `secrets`: the tokens controller takes the name out. The account stays."},
		{Code: RulesAggregated, Short: "a ClusterRole that it aggregates goes", Long: "The `aggregationRule` of the ClusterRole selects one that goes: the ClusterRole aggregation controller writes its rules anew, without those of the other. It stays."},
		{Code: RulesUnknown, Short: "a ClusterRole that it aggregates goes, and others may allow the same", Long: "The `aggregationRule` of the ClusterRole selects one that goes. Not all ClusterRoles were seen, so that another one may allow the same: whether rules go is not known. It stays."},
	}, standstill),
}

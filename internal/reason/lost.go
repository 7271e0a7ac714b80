package reason

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

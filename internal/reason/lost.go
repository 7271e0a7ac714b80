package reason

// Who took an object that is gone, or one of its owners.
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

// Lost are the causes of losses. A short text is said of the object, and the name of what it
// went with may stand behind it.
var Lost = &Family{
	Title: "Causes of losses",
	Found: "in the losses of lost",
	Meanings: []Meaning{
		{Code: Requested, Short: "deleted on request", Long: "A client sent a DELETE for the object itself."},
		{Code: OwnerGone, Short: "went with its owner", Long: "The garbage collector deleted it, because its last owner was gone."},
		{Code: OwnerReplaced, Short: "belonged to an earlier owner", Long: "The garbage collector deleted it, because the object that has the name of its owner has another uid."},
		{Code: OwnerNamespaceMismatch, Short: "belonged to an owner in another namespace:", Long: "The uid belongs to an object in another namespace; references cannot cross namespaces, and the garbage collector takes the owner for absent."},
		{Code: OwnerWaits, Short: "went ahead of its owner", Long: "The garbage collector deleted it, because its owner is deleted in the foreground and waits for its dependents."},
		{Code: OwnerOrphans, Short: "released by its owner", Long: "The garbage collector released it from an owner that is deleted with the policy Orphan: it stays."},
		{Code: ReferenceRemoved, Short: "lost its owner", Long: "The garbage collector removed the reference to an owner that is gone or waits for its dependents; another owner keeps the object."},
		{Code: NamespaceDeleted, Short: "went with its namespace", Long: "The namespace controller deleted it with its namespace."},
		{Code: DefinitionDeleted, Short: "went with its CRD", Long: "The API server deleted it with the CRD of its kind."},
		{Code: AccountGone, Short: "went with its ServiceAccount", Long: "It was the token of a ServiceAccount that is gone."},
		{Code: ServiceGone, Short: "went with its Service", Long: "It was made for a Service that is gone."},
		{Code: EndpointsGone, Short: "went with its Endpoints", Long: "It was an EndpointSlice that mirrored Endpoints which are gone."},
		{Code: ClaimGone, Short: "went with its PVC", Long: "The PVC of the volume is gone, and its reclaim policy is Delete."},
		{Code: VersionGone, Short: "went with the API version that it registered:", Long: "It was the APIService of a version that no CRD serves any more."},
		{Code: NodeGone, Short: "went with its node", Long: "The node of the pod is gone."},
		{Code: Controller, Short: "deleted by its controller", Long: "Its controller is there and may have deleted it."},
		{Code: ControllerChanged, Short: "scaled down or replaced by its controller", Long: "The spec of its controller was changed shortly before: it was scaled, or updated."},
		{Code: Evicted, Short: "evicted", Long: "The pod may have been evicted from its node, or preempted."},
		{Code: CleanedUp, Short: "cleaned up by Kubernetes", Long: "Kubernetes deletes objects of this kind when they have served or expired."},
		{Code: ByKubernetes, Short: "deleted by Kubernetes itself", Long: "The audit log names a part of Kubernetes that sent the DELETE, for a reason that history does not show."},
		{Code: OwnerUnknown, Short: "went with an owner that was not seen:", Long: "An owner was not seen: the garbage collector may have deleted the object."},
		{Code: NamespaceUnknown, Short: "went with a namespace that was not seen:", Long: "Its namespace was not seen: the namespace controller may have deleted the object."},
		{Code: DefinitionUnknown, Short: "went with a CRD that was not seen:", Long: "The CRD of its kind was not seen: the API server may have deleted the object along with it."},
		{Code: KindUnknown, Short: "of a kind that is not served any more", Long: "Its kind is not served: what deletes such objects is unknown."},
		{Code: Before, Short: "was being deleted before the history begins", Long: "Its deletion began before the history does."},
		{Code: Unseen, Short: "not seen when it went", Long: "What it was before, or when it went, is not known."},
	},
}

package history

// The causes that are judged from what was there just before a deletion began. With all of
// them By is what the sentence speaks of, if it speaks of something.
const (
	// Requested: somebody has sent a DELETE for the object.
	Requested Code = "Requested"

	// OwnerGone: the garbage collector deleted it, because its last owner was gone.
	OwnerGone Code = "OwnerGone"
	// OwnerReplaced: the garbage collector deleted it, because the object that has the name
	// of its owner has another uid.
	OwnerReplaced Code = "OwnerReplaced"
	// OwnerNamespaceMismatch: the garbage collector deleted it, because it looks for an owner in the namespace of
	// the dependent, and the object with that uid is in another one.
	OwnerNamespaceMismatch Code = "OwnerNamespaceMismatch"
	// OwnerWaits: the garbage collector deleted it, because its owner is deleted in the
	// foreground and waits for its dependents.
	OwnerWaits Code = "OwnerWaits"
	// OwnerOrphans: the garbage collector released it from an owner that is deleted with
	// the policy Orphan.
	OwnerOrphans Code = "OwnerOrphans"
	// ReferenceRemoved: the garbage collector removed the reference to an owner that is gone
	// or waits for its dependents; another owner keeps the object.
	ReferenceRemoved Code = "ReferenceRemoved"

	// NamespaceDeleted: the namespace controller deleted it with its namespace.
	NamespaceDeleted Code = "NamespaceDeleted"
	// DefinitionDeleted: the API server deleted it with its CustomResourceDefinition.
	DefinitionDeleted Code = "DefinitionDeleted"
	// AccountGone: the tokens controller deleted the token of a ServiceAccount that is gone.
	AccountGone Code = "AccountGone"
	// ServiceGone: the Endpoints or the IPAddress of a Service that is gone.
	ServiceGone Code = "ServiceGone"
	// EndpointsGone: an EndpointSlice that mirrored Endpoints that are gone.
	EndpointsGone Code = "EndpointsGone"
	// ClaimGone: a PersistentVolume with the reclaim policy Delete whose
	// PersistentVolumeClaim is gone.
	ClaimGone Code = "ClaimGone"
	// VersionGone: an APIService of a version that no CustomResourceDefinition serves any more.
	VersionGone Code = "VersionGone"
	// NodeGone: the pod garbage collector deleted a pod whose node is gone.
	NodeGone Code = "NodeGone"

	// Controller: its controller is there and may have deleted it, as somebody else may.
	Controller Code = "Controller"
	// ControllerChanged: its controller may have deleted it, since its spec was changed
	// shortly before: it was scaled, or updated.
	ControllerChanged Code = "ControllerChanged"
	// Evicted: the pod was on a node, from which it may have been evicted or preempted.
	Evicted Code = "Evicted"
	// CleanedUp: Kubernetes itself deletes objects of this kind when they have served or
	// expired.
	CleanedUp Code = "CleanedUp"

	// ByKubernetes: the audit log names a part of Kubernetes that sent the DELETE, for a reason
	// that history does not show.
	ByKubernetes Code = "ByKubernetes"

	// OwnerUnknown: an owner was not seen, so that the garbage collector may have deleted it.
	OwnerUnknown Code = "OwnerUnknown"
	// NamespaceUnknown: its namespace was not seen, so that the namespace controller may have
	// deleted it.
	NamespaceUnknown Code = "NamespaceUnknown"
	// DefinitionUnknown: its CustomResourceDefinition was not seen, so that the API server may
	// have deleted it along.
	DefinitionUnknown Code = "DefinitionUnknown"
	// KindUnknown: no resource of its kind is served, so that nobody can tell who deletes such
	// objects.
	KindUnknown Code = "KindUnknown"

	// Before: its deletion began before history does.
	Before Code = "Before"
	// Unseen: it is not known what it was before, or when it went.
	Unseen Code = "Unseen"
)

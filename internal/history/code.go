package history

// The causes that are derived from the state just before a deletion began. By is the object that
// the description mentions, if any.
const (
	// Requested: a client that is not a known controller has sent a DELETE for the object.
	Requested Code = "Requested"

	// OwnerGone: the garbage collector deleted it because its last owner was gone.
	OwnerGone Code = "OwnerGone"
	// OwnerReplaced: the garbage collector deleted it because the object with the name of its owner
	// has another uid.
	OwnerReplaced Code = "OwnerReplaced"
	// OwnerNamespaceMismatch: the garbage collector deleted it because it looks up an owner in the
	// namespace of the dependent, and the object with that uid is in another one.
	OwnerNamespaceMismatch Code = "OwnerNamespaceMismatch"
	// OwnerWaits: the garbage collector deleted it because its owner is deleted in the foreground
	// and waits for its dependents.
	OwnerWaits Code = "OwnerWaits"
	// OwnerOrphans: the garbage collector removed the reference to an owner that is deleted with
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

	// Controller: its controller exists and may have deleted it, and so may another client.
	Controller Code = "Controller"
	// ControllerChanged: its controller may have deleted it, because the controller's spec was
	// changed shortly before, for example scaled or updated.
	ControllerChanged Code = "ControllerChanged"
	// Evicted: the pod was on a node, and may have been evicted or preempted.
	Evicted Code = "Evicted"
	// CleanedUp: Kubernetes itself deletes objects of this kind when they are finished or expired.
	CleanedUp Code = "CleanedUp"

	// ByKubernetes: the audit log has a DELETE of a Kubernetes component, for a reason that the
	// history does not show.
	ByKubernetes Code = "ByKubernetes"

	// OwnerUnknown: an owner was not seen, so the garbage collector may have deleted it.
	OwnerUnknown Code = "OwnerUnknown"
	// NamespaceUnknown: its namespace was not seen, so the namespace controller may have deleted
	// it.
	NamespaceUnknown Code = "NamespaceUnknown"
	// DefinitionUnknown: its CustomResourceDefinition was not seen, so the API server may have
	// deleted it with the CRD.
	DefinitionUnknown Code = "DefinitionUnknown"
	// KindUnknown: no resource of its kind is served, so it is unknown what deletes such objects.
	KindUnknown Code = "KindUnknown"

	// Before: its deletion began before the history does.
	Before Code = "Before"
	// Unseen: its earlier state, or the revision of its deletion, is unknown.
	Unseen Code = "Unseen"
)

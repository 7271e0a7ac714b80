package reason

// Why a finalizer is not taken off.
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

// Refusal are the reasons not to take a finalizer off.
var Refusal = &Family{
	Title: "Reasons not to take a finalizer off",
	Found: "in the refusals of remove-finalizer",
	Meanings: []Meaning{
		{Code: NotBeingDeleted, Short: "the object is not being deleted", Long: "The object is not being deleted: the finalizer holds nothing up, and its controller would put it back. Nothing lifts this."},
		{Code: FinalizerNotThere, Short: "the object does not have it", Long: "The object does not have the finalizer. Nothing lifts this."},
		{Code: CollectorFinalizer, Short: "it is the garbage collector's", Long: "The finalizer is the garbage collector's: without it the garbage collector does something else. Lifted by --unlock=gc."},
		{Code: ConsumerExists, Short: "the object is in use", Long: "The finalizer protects the object, which is in use. Lifted by --unlock=in-use."},
		{Code: ConsumerUnknown, Short: "whether the object is in use is not known", Long: "The finalizer protects the object, and whether it is in use cannot be seen. Lifted by --unlock=in-use."},
		{Code: InstancesExist, Short: "the CRD has instances", Long: "The CRD still has instances. Lifted by --unlock=instances."},
		{Code: InstancesUnknown, Short: "whether the CRD has instances is not known", Long: "Whether the CRD still has instances cannot be seen. Lifted by --unlock=instances."},
		{Code: NamespaceNotEmpty, Short: "the namespace has content", Long: "The namespace still has content. Lifted by --unlock=content."},
		{Code: NamespaceContentUnknown, Short: "whether the namespace is empty is not known", Long: "Not everything that the namespace may contain could be listed. Lifted by --unlock=content."},
		{Code: LeaksOutside, Short: "it represents something outside the cluster", Long: "The finalizer is the last pointer to something outside of the cluster. Lifted by --unlock=leak."},
	},
}

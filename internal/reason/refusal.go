package reason

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
		{Code: ConsumerUnknown, Short: "whether the object is in use is not known", Long: "It protects the object, which may be in use (`--unlock=in-use`)."},
		{Code: InstancesExist, Short: "the CRD has instances", Long: "The CRD has instances (`--unlock=instances`)."},
		{Code: InstancesUnknown, Short: "whether the CRD has instances is not known", Long: "The CRD may have instances (`--unlock=instances`)."},
		{Code: NamespaceNotEmpty, Short: "the namespace has content", Long: "The namespace has content (`--unlock=content`)."},
		{Code: NamespaceContentUnknown, Short: "whether the namespace is empty is not known", Long: "The namespace may have content that could not be listed (`--unlock=content`)."},
		{Code: LeaksOutside, Short: "it represents something outside the cluster", Long: "It is the last pointer to something outside of the cluster (`--unlock=leak`)."},
	},
}

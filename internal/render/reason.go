package render

// sentences says in a few words what each reason means. They continue "…
// because": a fact about the object, without its name. (docs/reasons.md)
var sentences = map[string]string{
	// What the collector finds.
	"SolidOwner":               "an owner exists and is not being deleted",
	"NoSolidOwner":             "no owner is left",
	"WaitingOwner":             "an owner waits for its dependents to go",
	"WaitingOwnerInCycle":      "an owner waits for its dependents, and the owners may form a cycle",
	"NoBlockingDependents":     "no dependent blocks the deletion any more",
	"WaitingForDependents":     "dependents block the deletion",
	"BeingDeleted":             "it is being deleted already",
	"NotFound":                 "it does not exist",
	"UIDMismatch":              "the object of that name has another UID",
	"OwnerRefInvalidNamespace": "a cluster-scoped object refers to a namespaced owner",
	"UnknownOwnerKind":         "the kind of an owner is not served",
	"OwnerNotCovered":          "an owner is where nothing is known",
	"OrphanDependents":         "its owner is deleted with its dependents orphaned",
	"NoOwners":                 "it has no owners",
	"LookupFailed":             "an owner could not be looked up",
	"RequestRefused":           "the server refuses the request",
	"Conflict":                 "it changed in the meantime",

	// What else a plan sees.
	"UserRequest":           "you ask for it",
	"OwnerGone":             "its owner goes",
	"FinalizerRemains":      "a finalizer remains",
	"FinalizerRemoved":      "its last finalizer is removed",
	"NodeGone":              "its node is gone",
	"KubeletFinishesPod":    "the kubelet has to finish the pod",
	"NamespaceTerminating":  "its namespace is deleted",
	"DefinitionTerminating": "its CustomResourceDefinition is deleted",
}

// Sentence says in a few words what a reason means. A reason that it does not
// know is its own sentence.
func Sentence(reason string) string {
	if s, ok := sentences[reason]; ok {
		return s
	}
	return reason
}

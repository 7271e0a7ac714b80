package render

// sentences says in a few words what each reason means. They are facts about
// the object, without its name, short enough for a column; the full sentences
// are in docs/reasons.md.
var sentences = map[string]string{
	// What the collector finds.
	"NoOwners":                 "it has no owners",
	"SolidOwner":               "an owner exists that does not wait for its dependents",
	"DanglingReferences":       "an owner keeps it; references to other owners are removed",
	"NoSolidOwner":             "every owner is absent",
	"WaitingOwner":             "an owner waits for it to go, and no other keeps it",
	"WaitingOwnerInCycle":      "an owner waits for it to go, and the owners may form a cycle",
	"NoBlockingDependents":     "no dependent blocks the deletion any more",
	"WaitingForDependents":     "dependents block the deletion",
	"BeingDeleted":             "it is being deleted already",
	"NotFound":                 "it does not exist",
	"UIDMismatch":              "an object of that name has another UID",
	"OwnerRefInvalidNamespace": "a cluster-scoped object refers to a namespaced owner",
	"UnknownOwnerKind":         "the kind of an owner is not known to be served",
	"OwnerNotCovered":          "nothing is known of the place of an owner",
	"ObjectNotCovered":         "nothing is known of the place of the object",
	"LookupFailed":             "the server did not answer a read",
	"OrphanDependents":         "the Orphan policy removes references before the owner goes",
	"NotObserved":              "it exists, but its kind is not watched",
	"AbsenceNotProven":         "it is not proven that an owner is absent",
	"Contended":                "it changed again and again while it was judged",
	"Conflict":                 "it changed in the meantime",

	// What else a plan sees.
	"Requested":              "you ask for it",
	"UserRequest":            "you ask for it",
	"RequestRefused":         "the server refuses the request",
	"Refused":                "the server refuses the request",
	"OwnerGone":              "its owner goes",
	"FinalizerRemains":       "a finalizer remains",
	"FinalizerRemoved":       "its last finalizer is removed",
	"BlockingDependents":     "dependents block the deletion",
	"WaitsForItself":         "it blocks its own deletion",
	"CycleOfWaiting":         "objects wait for each other in a cycle",
	"OrphaningFails":         "a reference of a dependent cannot be removed",
	"GracePeriodRuns":        "the grace period runs",
	"KubeletFinishesPod":     "the kubelet has to finish the pod",
	"NodeGone":               "its node is gone",
	"ContentRemains":         "part of its content remains",
	"PodsRemain":             "pods in the namespace remain",
	"InstancesRemain":        "instances of the definition remain",
	"TokensRemain":           "finalizers in the namespace's spec remain",
	"ContentNotCovered":      "nothing is known of part of its content",
	"NotCovered":             "nothing is known of what may be there",
	"NotServed":              "objects are there of a kind that is not served",
	"DependentUnknown":       "nothing is known of a dependent",
	"OwnerUnknown":           "nothing is known of what becomes of its owner",
	"DeletionMissed":         "the collector has missed the start of the deletion",
	"SharedUID":              "another object has the same UID",
	"MissingUID":             "it has no UID",
	"InUse":                  "it is still in use",
	"ClaimInUse":             "pods on nodes use the claim",
	"VolumeBound":            "the claim of the volume is there",
	"ProtectionUnknown":      "nothing is known of who uses it",
	"NotShown":               "an object is not shown as a whole",
	"LeftAlone":              "no controller of Kubernetes removes the finalizer",
	"ManagedElsewhere":       "no controller of Kubernetes removes the finalizer",
	"Released":               "a finalizer that protects it has served",
	"DeletedByController":    "another controller deletes it",
	"FinalizerComesOff":      "its controller takes a finalizer off",
	"UntilFinalizerComesOff": "it stays until a finalizer comes off",
	"AlreadyGone":            "it is gone before the request arrives",
	"NodeNotReady":           "its node is not ready",
	"WebhookUnreachable":     "a webhook has to admit it and does not answer",
	"ConversionFails":        "its conversion webhook does not answer",
	"WebhookUnknown":         "it is not known whether a webhook is asked that does not answer",
	"APIServiceUnavailable":  "an aggregated API does not answer",
	"CollectorNotWorking":    "the collector has not done its part for minutes",
	"ControllerNotWorking":   "a controller has not done its part for minutes",
	"DefinitionCleanupFails": "its instances cannot be deleted",
	"NamespaceDeletionFails": "its content cannot be deleted",
	"PodNotFinished":         "the kubelet has not ended it",

	// Why a version that is not served any more takes nothing.
	"OtherVersion":        "they name the owner through a version that stays",
	"VersionNotServed":    "the version is not served already; they are never collected",
	"OwnerNotLiving":      "the owner is absent or on its way out today",
	"AlreadyGarbage":      "they are garbage today, and go anyway",
	"AlreadyBeingDeleted": "they are being deleted already",
	"OwnerUnresolved":     "another reference cannot be resolved",
	"NotWatched":          "the collector does not watch the kind",
}

// Sentence says in a few words what a reason means. A reason that it does not
// know is its own sentence.
func Sentence(reason string) string {
	if s, ok := sentences[reason]; ok {
		return s
	}
	return reason
}

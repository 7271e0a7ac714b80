package reason

// Problems of owner references.
const (
	OwnerNotFound            Code = "OwnerNotFound"
	OwnerUIDMismatch         Code = "OwnerUIDMismatch"
	OwnerKindMismatch        Code = "OwnerKindMismatch"
	OwnerNameMismatch        Code = "OwnerNameMismatch"
	OwnerNamespaceMismatch   Code = "OwnerNamespaceMismatch"
	OwnerNamespaced          Code = "OwnerNamespaced"
	OwnerKindUnknown         Code = "OwnerKindUnknown"
	OwnerVersionNotServed    Code = "OwnerVersionNotServed"
	OwnerKindNotServed       Code = "OwnerKindNotServed"
	OwnerKindCase            Code = "OwnerKindCase"
	OwnerVersionNotPreferred Code = "OwnerVersionNotPreferred"
	OwnerBanned              Code = "OwnerBanned"
	ReferenceIncomplete      Code = "ReferenceIncomplete"
	TwoControllers           Code = "TwoControllers"
	SelfOwner                Code = "SelfOwner"
	SelfOwnerBlocks          Code = "SelfOwnerBlocks"
	OwnerCycleBlocks         Code = "OwnerCycleBlocks"
	NoUID                    Code = "NoUID"
)

// Meanings that other families share.
var (
	sharedUID       = Meaning{Code: SharedUID, Severity: Error, Short: "another object has the same UID", Long: "Several objects have the same uid. The garbage collector cannot tell them apart."}
	ownerNotCovered = Meaning{Code: OwnerNotCovered, Severity: Warning, Short: "the snapshot does not cover an owner", Long: "The snapshot does not cover an owner, which may or may not exist."}
)

// Check has the codes of check.
var Check = &Family{
	Title: "Codes of check",
	Found: "in the findings of check",
	Meanings: []Meaning{
		{Code: OwnerNotFound, Severity: Error, Long: "The owner does not exist. The object is garbage unless another owner keeps it."},
		{Code: OwnerUIDMismatch, Severity: Error, Long: "The owner was deleted and created again: an object of that kind and name has another uid."},
		{Code: OwnerKindMismatch, Severity: Error, Long: "The uid belongs to another kind or group: to the garbage collector, the owner is absent."},
		{Code: OwnerNameMismatch, Severity: Error, Long: "The uid belongs to another name: to the garbage collector, the owner is absent."},
		{Code: OwnerNamespaceMismatch, Severity: Error, Long: "The uid belongs to an object in another namespace: to the garbage collector, the owner is absent."},
		{Code: OwnerNamespaced, Severity: Error, Long: "A cluster-scoped object refers to a namespaced owner. It is never collected, and a foreground deletion of that owner may never end."},
		{Code: OwnerKindUnknown, Severity: Error, Long: "No resource of that kind is served: the object is never collected."},
		{Code: OwnerVersionNotServed, Severity: Error, Long: "The kind is served, but not in this version. The object is never collected, and may be deleted wrongly while a version stops being served."},
		{Code: OwnerKindNotServed, Severity: Error, Long: "The kind (such as a list kind) maps to a path that does not exist: to the garbage collector, every owner of that kind is absent."},
		ownerNotCovered,
		{Code: OwnerKindCase, Severity: Warning, Long: "The kind is in lower case. The garbage collector accepts that, other tools may not."},
		{Code: OwnerVersionNotPreferred, Severity: Info, Long: "The version is served, but not preferred. Each restart of the garbage collector examines the object again, and it is at risk when that version stops being served."},
		{Code: OwnerBanned, Severity: Error, Long: "An Event cannot be an owner: the API server refuses every later update of the object."},
		{Code: ReferenceIncomplete, Severity: Error, Long: "apiVersion, kind, name or uid is empty: the API server refuses every later update of the object."},
		{Code: TwoControllers, Severity: Error, Long: "Two references have controller: true. The API server refuses every later update of the object, so orphaning and pruning it fail forever."},
		{Code: SelfOwner, Severity: Warning, Long: "The object owns itself, so it is never collected."},
		{Code: SelfOwnerBlocks, Severity: Error, Long: "The object owns itself and blocks its own deletion: a foreground delete of it never ends."},
		{Code: OwnerCycle, Severity: Warning, Long: "Objects own one another in a circle: none is ever collected."},
		{Code: OwnerCycleBlocks, Severity: Warning, Long: "Objects own and block one another in a circle: foreground deletes of several of them at once may never end."},
		sharedUID,
		{Code: NoUID, Severity: Warning, Long: "The object has no uid in the snapshot, so its dependents are unknown."},
	},
}

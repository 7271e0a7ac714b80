package reason

// What is wrong with owner references.
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

// What others find as well.
var (
	sharedUID       = Meaning{Code: SharedUID, Severity: Error, Short: "another object has the same UID", Long: "Several objects have the same uid: the garbage collector cannot tell them apart."}
	ownerNotCovered = Meaning{Code: OwnerNotCovered, Severity: Warning, Short: "nothing is known of the place of an owner", Long: "The snapshot does not contain the place where an owner would be: it may exist or not."}
)

// Check are the codes of check.
var Check = &Family{
	Title: "Codes of check",
	Found: "in the findings of check",
	Meanings: []Meaning{
		{Code: OwnerNotFound, Severity: Error, Long: "The owner does not exist: the object is garbage unless another owner keeps it."},
		{Code: OwnerUIDMismatch, Severity: Error, Long: "An object of that kind and name exists with another uid: the owner was deleted and created again, and the reference names the old one."},
		{Code: OwnerKindMismatch, Severity: Error, Long: "The uid belongs to an object of another kind or group; the garbage collector takes the owner for absent."},
		{Code: OwnerNameMismatch, Severity: Error, Long: "The uid belongs to an object with another name; the garbage collector takes the owner for absent."},
		{Code: OwnerNamespaceMismatch, Severity: Error, Long: "The uid belongs to an object in another namespace; references cannot cross namespaces, and the garbage collector takes the owner for absent."},
		{Code: OwnerNamespaced, Severity: Error, Long: "A cluster-scoped object refers to a namespaced owner; the garbage collector never collects it, and a foreground deletion of that owner may never end."},
		{Code: OwnerKindUnknown, Severity: Error, Long: "No resource of that kind is served: the object is never collected."},
		{Code: OwnerVersionNotServed, Severity: Error, Long: "The kind is served, but not in this version: the object is never collected, and it may be deleted wrongly while a version stops being served."},
		{Code: OwnerKindNotServed, Severity: Error, Long: "The kind (such as a list kind) maps to a path that does not exist: the garbage collector takes every owner of that kind for absent."},
		ownerNotCovered,
		{Code: OwnerKindCase, Severity: Warning, Long: "The kind is written in lower case; the garbage collector accepts it, other tools may not."},
		{Code: OwnerVersionNotPreferred, Severity: Info, Long: "The reference names a served version that is not the preferred one: objects with such references are looked at again at every restart of the garbage collector, and are exposed when that version stops being served."},
		{Code: OwnerBanned, Severity: Error, Long: "An Event cannot be an owner: the API server refuses every later update of the object."},
		{Code: ReferenceIncomplete, Severity: Error, Long: "apiVersion, kind, name or uid of the reference is empty: the API server refuses every later update of the object."},
		{Code: TwoControllers, Severity: Error, Long: "Two references say controller: true: the API server refuses every later update of the object, and orphaning or pruning it fails forever."},
		{Code: SelfOwner, Severity: Warning, Long: "The object owns itself, so it always has an existing owner and is never collected over references."},
		{Code: SelfOwnerBlocks, Severity: Error, Long: "The object owns itself and blocks its own deletion: a foreground delete of it never ends."},
		{Code: OwnerCycle, Severity: Warning, Long: "Objects own one another in a circle: none of them is ever collected by itself."},
		{Code: OwnerCycleBlocks, Severity: Warning, Long: "Objects own and block one another in a circle: foreground deletes of several of them at once may never end."},
		sharedUID,
		{Code: NoUID, Severity: Warning, Long: "The object has no uid in the snapshot, so that its dependents are unknown."},
	},
}

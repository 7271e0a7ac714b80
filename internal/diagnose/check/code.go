package check

import (
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// The codes of the findings.
const (
	OwnerNotFound          diagnose.Code = "OwnerNotFound"
	OwnerUIDMismatch       diagnose.Code = "OwnerUIDMismatch"
	OwnerKindMismatch      diagnose.Code = "OwnerKindMismatch"
	OwnerNameMismatch      diagnose.Code = "OwnerNameMismatch"
	OwnerNamespaceMismatch diagnose.Code = "OwnerNamespaceMismatch"
	OwnerNamespaced        diagnose.Code = "OwnerNamespaced"
	OwnerKindUnknown       diagnose.Code = "OwnerKindUnknown"
	OwnerVersionNotServed  diagnose.Code = "OwnerVersionNotServed"
	OwnerKindNotServed     diagnose.Code = "OwnerKindNotServed"
	OwnerNotCovered        diagnose.Code = "OwnerNotCovered"
	OwnerKindCase          diagnose.Code = "OwnerKindCase"
	OwnerVersionOther      diagnose.Code = "OwnerVersionNotPreferred"
	OwnerBanned            diagnose.Code = "OwnerBanned"
	ReferenceIncomplete    diagnose.Code = "ReferenceIncomplete"
	TwoControllers         diagnose.Code = "TwoControllers"
	SelfOwner              diagnose.Code = "SelfOwner"
	SelfOwnerBlocks        diagnose.Code = "SelfOwnerBlocks"
	OwnerCycle             diagnose.Code = "OwnerCycle"
	OwnerCycleBlocks       diagnose.Code = "OwnerCycleBlocks"
	SharedUID              diagnose.Code = "SharedUID"
	NoUID                  diagnose.Code = "NoUID"
)

// Codes lists the codes with their severity and one sentence each.
func Codes() []diagnose.CodeText {
	return []diagnose.CodeText{
		{Code: OwnerNotFound, Severity: reason.Error, Text: "The owner does not exist: the object is garbage unless another owner keeps it."},
		{Code: OwnerUIDMismatch, Severity: reason.Error, Text: "An object of that kind and name exists with another uid: the owner was deleted and created again, and the reference names the old one."},
		{Code: OwnerKindMismatch, Severity: reason.Error, Text: "The uid belongs to an object of another kind or group; the collector takes the owner for absent."},
		{Code: OwnerNameMismatch, Severity: reason.Error, Text: "The uid belongs to an object with another name; the collector takes the owner for absent."},
		{Code: OwnerNamespaceMismatch, Severity: reason.Error, Text: "The uid belongs to an object in another namespace; references cannot cross namespaces, and the collector takes the owner for absent."},
		{Code: OwnerNamespaced, Severity: reason.Error, Text: "A cluster-scoped object refers to a namespaced owner; the collector never collects it, and a foreground deletion of that owner may never end."},
		{Code: OwnerKindUnknown, Severity: reason.Error, Text: "No resource of that kind is served: the object is never collected."},
		{Code: OwnerVersionNotServed, Severity: reason.Error, Text: "The kind is served, but not in this version: the object is never collected, and it may be deleted wrongly while a version stops being served."},
		{Code: OwnerKindNotServed, Severity: reason.Error, Text: "The kind (such as a list kind) maps to a path that does not exist: the collector takes every owner of that kind for absent."},
		{Code: OwnerNotCovered, Severity: reason.Warning, Text: "The snapshot does not contain the place where the owner would be: whether it exists is unknown."},
		{Code: OwnerKindCase, Severity: reason.Warning, Text: "The kind is written in lower case; the collector accepts it, other tools may not."},
		{Code: OwnerVersionOther, Severity: reason.Info, Text: "The reference names a served version that is not the preferred one: objects with such references are looked at again at every restart of the collector, and are exposed when that version stops being served."},
		{Code: OwnerBanned, Severity: reason.Error, Text: "An Event cannot be an owner: the API server refuses every later update of the object."},
		{Code: ReferenceIncomplete, Severity: reason.Error, Text: "apiVersion, kind, name or uid of the reference is empty: the API server refuses every later update of the object."},
		{Code: TwoControllers, Severity: reason.Error, Text: "Two references say controller: true: the API server refuses every later update of the object, and orphaning or pruning it fails for ever."},
		{Code: SelfOwner, Severity: reason.Warning, Text: "The object owns itself, so it always has a solid owner and is never collected over references."},
		{Code: SelfOwnerBlocks, Severity: reason.Error, Text: "The object owns itself and blocks its own deletion: a foreground delete of it never ends."},
		{Code: OwnerCycle, Severity: reason.Warning, Text: "Objects own one another in a circle: none of them is ever collected by itself."},
		{Code: OwnerCycleBlocks, Severity: reason.Warning, Text: "Objects own and block one another in a circle: foreground deletes of several of them at once may never end."},
		{Code: SharedUID, Severity: reason.Error, Text: "Two objects have the same uid: the collector cannot tell them apart."},
		{Code: NoUID, Severity: reason.Warning, Text: "The object has no uid in the snapshot, so that nothing can be said about who refers to it."},
	}
}

func severityOf(code diagnose.Code) reason.Severity { return diagnose.SeverityOf(Codes(), code) }

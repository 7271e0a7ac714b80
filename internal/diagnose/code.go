package diagnose

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// Code is a kind of finding. Codes are API; docs/reasons.md lists them.
type Code string

// The codes of Check.
const (
	OwnerNotFound          Code = "OwnerNotFound"
	OwnerUIDMismatch       Code = "OwnerUIDMismatch"
	OwnerKindMismatch      Code = "OwnerKindMismatch"
	OwnerNameMismatch      Code = "OwnerNameMismatch"
	OwnerNamespaceMismatch Code = "OwnerNamespaceMismatch"
	OwnerNamespaced        Code = "OwnerNamespaced"
	OwnerKindUnknown       Code = "OwnerKindUnknown"
	OwnerVersionNotServed  Code = "OwnerVersionNotServed"
	OwnerKindNotServed     Code = "OwnerKindNotServed"
	OwnerNotCovered        Code = "OwnerNotCovered"
	OwnerKindCase          Code = "OwnerKindCase"
	OwnerVersionOther      Code = "OwnerVersionNotPreferred"
	OwnerBanned            Code = "OwnerBanned"
	ReferenceIncomplete    Code = "ReferenceIncomplete"
	TwoControllers         Code = "TwoControllers"
	SelfOwner              Code = "SelfOwner"
	SelfOwnerBlocks        Code = "SelfOwnerBlocks"
	OwnerCycle             Code = "OwnerCycle"
	OwnerCycleBlocks       Code = "OwnerCycleBlocks"
	SharedUID              Code = "SharedUID"
	NoUID                  Code = "NoUID"
)

// CodeText is one documented code.
type CodeText struct {
	Code     Code
	Severity report.Severity
	Text     string
}

// Codes lists the codes with their severity and one sentence each.
func Codes() []CodeText {
	return []CodeText{
		{OwnerNotFound, report.Error, "The owner does not exist: the object is garbage unless another owner keeps it."},
		{OwnerUIDMismatch, report.Error, "An object of that kind and name exists with another uid: the owner was deleted and created again, and the reference names the old one."},
		{OwnerKindMismatch, report.Error, "The uid belongs to an object of another kind or group; the collector takes the owner for absent."},
		{OwnerNameMismatch, report.Error, "The uid belongs to an object with another name; the collector takes the owner for absent."},
		{OwnerNamespaceMismatch, report.Error, "The uid belongs to an object in another namespace; references cannot cross namespaces, and the collector takes the owner for absent."},
		{OwnerNamespaced, report.Error, "A cluster-scoped object refers to a namespaced owner; the collector never collects it, and a foreground deletion of that owner may never end."},
		{OwnerKindUnknown, report.Error, "No resource of that kind is served: the object is never collected."},
		{OwnerVersionNotServed, report.Error, "The kind is served, but not in this version: the object is never collected, and it may be deleted wrongly while a version stops being served."},
		{OwnerKindNotServed, report.Error, "The kind (such as a list kind) maps to a path that does not exist: the collector takes every owner of that kind for absent."},
		{OwnerNotCovered, report.Warning, "The snapshot does not contain the place where the owner would be: whether it exists is unknown."},
		{OwnerKindCase, report.Warning, "The kind is written in lower case; the collector accepts it, other tools may not."},
		{OwnerVersionOther, report.Info, "The reference names a served version that is not the preferred one: objects with such references are looked at again at every restart of the collector, and are exposed when that version stops being served."},
		{OwnerBanned, report.Error, "An Event cannot be an owner: the API server refuses every later update of the object."},
		{ReferenceIncomplete, report.Error, "apiVersion, kind, name or uid of the reference is empty: the API server refuses every later update of the object."},
		{TwoControllers, report.Error, "Two references say controller: true: the API server refuses every later update of the object, and orphaning or pruning it fails for ever."},
		{SelfOwner, report.Warning, "The object owns itself, so it always has a solid owner and is never collected over references."},
		{SelfOwnerBlocks, report.Error, "The object owns itself and blocks its own deletion: a foreground delete of it never ends."},
		{OwnerCycle, report.Warning, "Objects own one another in a circle: none of them is ever collected by itself."},
		{OwnerCycleBlocks, report.Warning, "Objects own and block one another in a circle: foreground deletes of several of them at once may never end."},
		{SharedUID, report.Error, "Two objects have the same uid: the collector cannot tell them apart."},
		{NoUID, report.Warning, "The object has no uid in the snapshot, so that nothing can be said about who refers to it."},
	}
}

func severityOf(code Code) report.Severity {
	for _, list := range [][]CodeText{Codes(), StuckCodes()} {
		for _, c := range list {
			if c.Code == code {
				return c.Severity
			}
		}
	}
	return report.Error
}

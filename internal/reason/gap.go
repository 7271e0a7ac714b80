package reason

// Reasons why a list is not covered.
const (
	NotInDump  Code = "NotInDump"
	Forbidden  Code = "Forbidden"
	ListFailed Code = "ListFailed"
	Truncated  Code = "Truncated"
	LeftOut    Code = "LeftOut"
	Partial    Code = "Partial"
	Encrypted  Code = "Encrypted"
	Expired    Code = "Expired"
	CRDGone    Code = "CRDGone"

	NotServed       Code = "NotServed"
	CRDVersionGone  Code = "CRDVersionGone"
	CRDScopeChanged Code = "CRDScopeChanged"
	CRDKindChanged  Code = "CRDKindChanged"
)

// Gap has the reasons why a list is not covered.
var Gap = &Family{
	Title: "Reasons of a gap",
	Found: "in front of the colon of `why`",
	Meanings: []Meaning{
		{Code: NotInDump, Long: "No file of the dump lists the resource there."},
		{Code: Forbidden, Long: "The user that took the dump was not allowed to list it."},
		{Code: ListFailed, Long: "The list failed for another reason."},
		{Code: NotServed, Long: "Discovery names the resource, and a list of it returns 404."},
		{Code: Truncated, Long: "The file with the list is broken."},
		{Code: LeftOut, Long: "It was left out on purpose: by `--namespaces`, `--include` or `--exclude`, or because the answer needs only one namespace."},
		{Code: Encrypted, Long: "Some of its objects are encrypted in the etcd snapshot: only their names are known."},
		{Code: Expired, Long: "The server has forgotten earlier changes. It remembers some minutes, and less for kinds that change often or had a change of their CRD."},
		{Code: CRDGone, Long: "Its CRD was deleted: until it exists again, the server shows neither its instances nor what happened to them."},
		{Code: CRDVersionGone, Long: "Its CRD was created again without the version that its instances were stored in: until it has that version, the server shows neither them nor what happened to them."},
		{Code: CRDScopeChanged, Long: "Its CRD was created again with another scope: the server does not show which instances were deleted."},
		{Code: CRDKindChanged, Long: "Its CRD was created again with another kind: the server does not show which instances were deleted."},
		{Code: Partial, Long: "The list is marked as incomplete, contradicts itself, or may have been taken with a selector."},
	},
}

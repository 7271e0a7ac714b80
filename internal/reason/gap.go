package reason

// Why something is not covered.
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

// Gap are the reasons why something is not covered.
var Gap = &Family{
	Title: "Reasons of a gap",
	Found: "in front of the colon of `why`",
	Meanings: []Meaning{
		{Code: NotInDump, Long: "No file of the dump lists the resource there."},
		{Code: Forbidden, Long: "The user that took the dump was not allowed to list it."},
		{Code: ListFailed, Long: "The list was tried and failed for another reason."},
		{Code: NotServed, Long: "The server names the resource in discovery and answers 404 to a list of it."},
		{Code: Truncated, Long: "The file that holds the list is broken."},
		{Code: LeftOut, Long: "It was not looked at, by choice: see `--namespaces`, `--include` and `--exclude`, or the answer needs only one namespace."},
		{Code: Encrypted, Long: "Some of its objects are encrypted in the etcd snapshot: their names are known, and nothing else."},
		{Code: Expired, Long: "The server has forgotten what was before: it remembers some minutes, and of a kind that changes often, or whose CRD has changed, less."},
		{Code: CRDGone, Long: "Its CRD was deleted: the server shows none of its instances until the CRD is there again, nor what became of them."},
		{Code: CRDVersionGone, Long: "Its CRD was deleted and made again without this version, in which its instances were stored: the server does not show them until the CRD has that version, nor what became of them."},
		{Code: CRDScopeChanged, Long: "Its CRD was deleted and made again with another scope: the server does not show which instances went."},
		{Code: CRDKindChanged, Long: "Its CRD was deleted and made again with another kind: the server does not show which instances went."},
		{Code: Partial, Long: "The list says of itself that it is not whole, it contradicts itself, or it may have been taken with a selector."},
	},
}

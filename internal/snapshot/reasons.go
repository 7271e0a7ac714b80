package snapshot

// ReasonText is one documented reason of a gap.
type ReasonText struct {
	Reason Reason
	Text   string
}

// Reasons lists the reasons of gaps with one sentence each.
func Reasons() []ReasonText {
	return []ReasonText{
		{NotInDump, "No file of the dump lists the resource there."},
		{Forbidden, "Whoever took the dump was not allowed to list it."},
		{ListFailed, "The list was tried and failed for another reason."},
		{NotServed, "The server names the resource in discovery and answers 404 to a list of it."},
		{Truncated, "The file that holds the list is broken."},
		{LeftOut, "It was not looked at, by choice: see `--namespaces`, `--include` and `--exclude`, or the answer needs only one namespace."},
		{Partial, "The list says of itself that it is not whole, or it contradicts itself."},
	}
}

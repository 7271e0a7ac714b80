package reason

// Differences of older releases of Kubernetes from the newest.
const (
	NamespaceUnordered Code = "NamespaceUnordered"
	OwnerMisplaced     Code = "OwnerMisplaced"
	TokenRenewed       Code = "TokenRenewed"
	UpdateRefused      Code = "UpdateRefused"
)

// Release has the differences between releases.
var Release = &Family{
	Title: "Differences between releases",
	Found: "in versionDifferences of a source: what releases before the named one do",
	Meanings: []Meaning{
		{Code: NamespaceUnordered, Short: "a namespace's pods are not deleted first"},
		{Code: OwnerMisplaced, Short: "one owner reference to a wrong place can get every object with that owner deleted"},
		{Code: TokenRenewed, Short: "a ServiceAccount whose token is deleted gets a new one"},
		{Code: UpdateRefused, Short: "what is left of a namespace that is gone cannot be updated, and keeps its finalizers"},
	},
}

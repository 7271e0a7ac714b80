package reason

// What older releases of Kubernetes do otherwise than the one whose rules are followed.
const (
	NamespaceUnordered Code = "NamespaceUnordered"
	OwnerMisplaced     Code = "OwnerMisplaced"
	TokenRenewed       Code = "TokenRenewed"
	VolumeAbandoned    Code = "VolumeAbandoned"
)

var (
	namespaceUnordered = Meaning{Code: NamespaceUnordered, Short: "a namespace's content is deleted in no order, pods not first",
		Long: "The release of the cluster deletes the content of a namespace in no order, and so what stays behind its pods by the rules may go at once."}
	ownerMisplaced = Meaning{Code: OwnerMisplaced, Short: "one owner reference to a wrong place can have every object with that owner deleted",
		Long: "A reference names the owner of the object in a wrong place: the garbage collector of older releases deletes every dependent of that owner, or none, as it happens."}
)

// Release are the differences between releases.
var Release = &Family{
	Title: "Differences between releases",
	Found: "in versionDifferences of a source",
	Meanings: []Meaning{
		namespaceUnordered,
		ownerMisplaced,
		{Code: TokenRenewed, Short: "a ServiceAccount whose token is deleted gets a new one"},
		{Code: VolumeAbandoned, Short: "the storage behind a volume that is deleted before its PVC is left behind"},
	},
}

package reason

// Who took an object that is gone, or one of its owners.
const (
	AskedFor           Code = "AskedFor"
	OwnerDeleted       Code = "OwnerDeleted"
	OwnerWaited        Code = "OwnerWaited"
	OwnerWasAbsent     Code = "OwnerWasAbsent"
	OwnerReplaced      Code = "OwnerReplaced"
	OrphanedByOwner    Code = "OrphanedByOwner"
	ReferenceRemoved   Code = "ReferenceRemoved"
	NamespaceDeleted   Code = "NamespaceDeleted"
	CustomKindDeleted  Code = "CustomKindDeleted"
	PVCDeleted         Code = "PVCDeleted"
	AccountDeleted     Code = "AccountDeleted"
	ReplacedByOwner    Code = "ReplacedByOwner"
	ScaledDown         Code = "ScaledDown"
	BeyondHistoryLimit Code = "BeyondHistoryLimit"
	LifetimeOver       Code = "LifetimeOver"
	Evicted            Code = "Evicted"
	NodeLost           Code = "NodeLost"
	Unexplained        Code = "Unexplained"
)

// Lost are the causes of losses. The short text of each goes on where "it" would have begun;
// behind it the name of what it went with may stand.
var Lost = &Family{
	Title: "Causes of losses",
	Found: "in the losses of lost",
	Meanings: []Meaning{
		{Code: AskedFor, Short: "deleted on request", Long: "A request was for the object itself."},
		{Code: OwnerDeleted, Short: "went with its owner", Long: "Its owner was deleted, and the garbage collector deleted the object after it."},
		{Code: OwnerWaited, Short: "went ahead of its owner", Long: "Its owner was deleted in the foreground, and waited for the object to go."},
		{Code: OwnerWasAbsent, Short: "had lost its owner", Long: "Its owners were absent before the history begins: the garbage collector deleted the object."},
		{Code: OwnerReplaced, Short: "belonged to an earlier owner of the name", Long: "Its owner was created again, with another uid: the garbage collector deleted the object."},
		{Code: OrphanedByOwner, Short: "released by its owner", Long: "Its owner was deleted with the policy Orphan: the object stays without it."},
		{Code: ReferenceRemoved, Short: "lost a reference to", Long: "A reference to an owner was removed while another owner keeps the object, or by hand: it stays."},
		{Code: NamespaceDeleted, Short: "went with its namespace", Long: "The namespace controller deleted it with its namespace."},
		{Code: CustomKindDeleted, Short: "went with its CRD", Long: "The API server deleted it with the CRD of its kind."},
		{Code: PVCDeleted, Short: "went with its PVC", Long: "The PVC of the volume was deleted, and its reclaim policy is Delete."},
		{Code: AccountDeleted, Short: "went with its ServiceAccount", Long: "It was the token of a ServiceAccount that was deleted."},
		{Code: ReplacedByOwner, Short: "replaced by its controller", Long: "Its controller made another one for it, as in a rollout."},
		{Code: ScaledDown, Short: "one too many for its controller", Long: "Its controller was scaled down."},
		{Code: BeyondHistoryLimit, Short: "older than the history of its controller", Long: "Its controller keeps so many old ones, and no more."},
		{Code: LifetimeOver, Short: "at the end of its lifetime", Long: "It was kept for a time after it had finished, or was written, and that time was over."},
		{Code: Evicted, Short: "evicted", Long: "The pod was evicted."},
		{Code: NodeLost, Short: "lost its node", Long: "The node of the pod was gone or not ready."},
		{Code: Unexplained, Short: "not explained", Long: "Nothing that is known explains it."},
	},
}

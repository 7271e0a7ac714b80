package reason

// Why what is garbage is not deleted.
const (
	ProtectedNamespace    Code = "ProtectedNamespace"
	ProtectedByAnnotation Code = "ProtectedByAnnotation"
	ProtectedByHelm       Code = "ProtectedByHelm"
	ProtectedKind         Code = "ProtectedKind"
	NotLeading            Code = "NotLeading"
	SafetyLimitTripped    Code = "SafetyLimitTripped"
	Gathering             Code = "Gathering"
)

// Gate are the reasons not to delete what is garbage.
var Gate = &Family{
	Title: "Reasons not to delete",
	Found: "in the events, metrics and log of the controller; the first four in the refusals of `delete` and `collect`, too",
	Meanings: []Meaning{
		{Code: ProtectedNamespace, Long: "It is one of the namespaces that a cluster lives by. Nothing lifts this."},
		{Code: ProtectedByAnnotation, Long: "It has the annotation kubectl-gc.io/protect, or was never seen, so that it may have it. To take the annotation away lifts this."},
		{Code: ProtectedByHelm, Long: "It has the annotation helm.sh/resource-policy: keep. To take the annotation away lifts this."},
		{Code: ProtectedKind, Long: "Objects of its kind are protected as long as the kind is not allowed."},
		{Code: NotLeading, Short: "the lease was not renewed in time, so another replica may lead", Long: "The lease was not renewed in time: another replica may lead."},
		{Code: SafetyLimitTripped, Short: "the safety limit has tripped, and nothing is written until a person has looked", Long: "More was about to be deleted than the limit allows: nothing is written until a person approves it."},
		{Code: Gathering, Short: "it was found to be garbage just now, and more may be found yet", Long: "It was found to be garbage just now, and more may be found yet."},
	},
}

package reason

// Reasons not to delete garbage.
const (
	ProtectedNamespace    Code = "ProtectedNamespace"
	ProtectedByAnnotation Code = "ProtectedByAnnotation"
	ProtectedByHelm       Code = "ProtectedByHelm"
	ProtectedKind         Code = "ProtectedKind"
	NotLeading            Code = "NotLeading"
	SafetyLimitTripped    Code = "SafetyLimitTripped"
	Gathering             Code = "Gathering"
)

// Gate has the reasons not to delete garbage.
var Gate = &Family{
	Title: "Reasons not to delete",
	Found: "in the events, metrics and log of the controller; the first four in the refusals of `delete` and `collect`, too",
	Meanings: []Meaning{
		{Code: ProtectedNamespace, Long: "It is a namespace that the cluster depends on. Nothing lifts this."},
		{Code: ProtectedByAnnotation, Long: "It has the annotation kubectl-gc.io/protect, or may have it because it was never seen. Removing the annotation lifts this."},
		{Code: ProtectedByHelm, Long: "It has the annotation helm.sh/resource-policy: keep. Removing the annotation lifts this."},
		{Code: ProtectedKind, Long: "Its kind is protected until it is allowed."},
		{Code: NotLeading, Short: "the lease was not renewed in time, so another replica may lead"},
		{Code: SafetyLimitTripped, Short: "the safety limit has tripped: nothing is written until a person approves", Long: "More would be deleted than the limit allows: nothing is written until a person approves."},
		{Code: Gathering, Short: "it has just become garbage, and more may follow"},
	},
}

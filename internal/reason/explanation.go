package reason

// What an explanation says beside the reasons of the collector.
const (
	OwnerIsGarbage Code = "OwnerIsGarbage"
)

// Explanation are the reasons of an explanation beside those of the collector.
var Explanation = &Family{
	Title: "Reasons of an explanation",
	Found: "beside those of the garbage collector",
	Meanings: []Meaning{
		{Code: OwnerIsGarbage, Short: "its owner is garbage itself", Long: "The owner still exists and is garbage itself: the object goes after it."},
	},
}

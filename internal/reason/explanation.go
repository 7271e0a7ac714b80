package reason

// Reasons of an explanation in addition to those of the collector.
const (
	OwnerIsGarbage Code = "OwnerIsGarbage"
)

// Explanation has the reasons of an explanation in addition to those of the collector.
var Explanation = &Family{
	Title: "Reasons of an explanation",
	Found: "in addition to those of the garbage collector",
	Meanings: []Meaning{
		{Code: OwnerIsGarbage, Short: "its owner is garbage itself", Long: "Its owner still exists and is garbage itself: it is deleted after the owner."},
	},
}

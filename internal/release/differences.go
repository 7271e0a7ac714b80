package release

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Rule is something that the newest release does, and an older one does not.
type Rule uint8

// The rules, by what the newest release does.
const (
	// OrderedNamespaces: the pods of a namespace go first, and all else waits for them.
	OrderedNamespaces Rule = iota
	// BoundedStart: a garbage collector that starts waits 30 seconds at most for a kind that it
	// cannot list.
	BoundedStart
	// VolumesDeletedWithClaims: storage behind a volume that is deleted before its claim is
	// deleted, too.
	VolumesDeletedWithClaims
	// TokensStayDeleted: a ServiceAccount whose token is deleted does not get a new one.
	TokensStayDeleted
	// OwnersByPlace: the garbage collector knows an owner by its place, and not by its uid
	// alone.
	OwnersByPlace
)

// Difference is a rule and the release that brought it.
type Difference struct {
	Rule Rule
	// Since is the first release that follows the rule unless it is told otherwise.
	Since Minor
	// Before is what older releases do instead.
	Before reason.Code
	// Simulated tells that a simulation of an older release does the same. If not, what it
	// would decide is Unknown there.
	Simulated bool
	// Change is where Kubernetes describes or made it.
	Change string
	// Scenario is the file that shows both sides, from the root of the repository; empty for
	// a release that was not measured.
	Scenario string
}

// Differences are all that are known, the newest first.
var Differences = []Difference{
	{
		Rule: OrderedNamespaces, Since: 33, Before: reason.NamespaceUnordered, Simulated: true, Change: "KEP-5080",
		Scenario: "internal/apisim/controllers/testdata/scenarios/s210_pods_first.txt",
	},
	{Rule: BoundedStart, Since: 32, Before: reason.StartBlocked, Change: "kubernetes/kubernetes#125796"},
	{Rule: VolumesDeletedWithClaims, Since: 31, Before: reason.VolumeAbandoned, Change: "KEP-2644"},
	{Rule: TokensStayDeleted, Since: 24, Before: reason.TokenRenewed, Change: "KEP-2799"},
	{Rule: OwnersByPlace, Since: 20, Before: reason.OwnerMisplaced, Change: "kubernetes/kubernetes#92743"},
}

// DifferenceOf is the row of a rule.
func DifferenceOf(rule Rule) Difference {
	for _, d := range Differences {
		if d.Rule == rule {
			return d
		}
	}
	return Difference{Rule: rule}
}

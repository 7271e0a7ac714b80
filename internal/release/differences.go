package release

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Rule is something that the newest release does, and an older one does not.
type Rule uint8

// The rules, by what the newest release does.
const (
	// UpdatesWithoutNamespace: an object can be updated whose namespace is gone, so that its
	// finalizers can be removed.
	UpdatesWithoutNamespace Rule = iota
	// EndpointsByController: the Endpoints of a deleted Service are deleted by their controller
	// alone, and not by the API server at once.
	EndpointsByController
	// DeletesPinned: the garbage collector deletes the very version of an object that it has
	// looked at.
	DeletesPinned
	// InstancesForbidden: no request creates an instance of a CRD that is being deleted.
	InstancesForbidden
	// FewerFlowSchemas: the API server does not keep the FlowSchemas endpoint-controller and
	// workload-leader-election.
	FewerFlowSchemas
	// OrderedNamespaces: the pods of a namespace go first, and all else waits for them.
	OrderedNamespaces
	// EndpointsLabelled: the Endpoints that a controller keeps have a label that says so.
	EndpointsLabelled
	// GraceEndsNow: a grace period that is shortened below what has passed of it ends now, and
	// not in the past.
	GraceEndsNow
	// BoundedStart: a garbage collector that starts waits 30 seconds at most for a kind that it
	// cannot list.
	BoundedStart
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
	// Now and Before are what releases do since then, and did before, as sentences without a
	// full stop.
	Now, Before string
	// Said is how a document says what an older release does; empty where that changes no
	// answer but by what the answer says anyway.
	Said reason.Code
	// Simulated tells that a simulation of an older release does the same. If not, what it
	// would decide is Unknown there.
	Simulated bool
	// Change is where Kubernetes describes or made it.
	Change string
	// Scenario is the file, below internal, that shows both sides; empty where a simulation
	// does not differ, or no release was measured that is old enough.
	Scenario string
}

// Differences are all that are known, the newest first.
var Differences = []Difference{
	{
		Rule: UpdatesWithoutNamespace, Since: 37, Said: reason.UpdateRefused, Simulated: true, Change: "kubernetes/kubernetes#140661",
		Now:      "objects in a namespace that is gone can be updated, so their finalizers can be removed",
		Before:   "every update of them is refused, also those of the garbage collector",
		Scenario: "apisim/controllers/testdata/scenarios/release_updates_without_namespace.txt",
	},
	{
		Rule: EndpointsByController, Since: 37, Simulated: true, Change: "kubernetes/kubernetes#134860",
		Now:      "the Endpoints of a deleted Service are deleted by the Endpoints controller",
		Before:   "the API server deletes them at once",
		Scenario: "apisim/controllers/testdata/scenarios/release_endpoints.txt",
	},
	{
		Rule: FewerFlowSchemas, Since: 34, Simulated: true, Change: "kubernetes/kubernetes#131215",
		Now:    "the FlowSchemas endpoint-controller and workload-leader-election stay deleted",
		Before: "the API server makes them again",
	},
	{
		Rule: InstancesForbidden, Since: 34, Simulated: true, Change: "kubernetes/kubernetes#132467",
		Now:      "no request creates an instance of a CRD that is being deleted; the answer is 403",
		Before:   "a server-side apply does; the answer to others is 405",
		Scenario: "apisim/controllers/testdata/scenarios/release_instances_forbidden.txt",
	},
	{
		Rule: DeletesPinned, Since: 34, Simulated: true, Change: "kubernetes/kubernetes#132632",
		Now:      "the garbage collector deletes only the version of an object that it has read: an owner that is added meanwhile saves it",
		Before:   "it deletes any version",
		Scenario: "engine/testdata/scenarios/release_deletes_pinned.txt",
	},
	{
		Rule: OrderedNamespaces, Since: 33, Said: reason.NamespaceUnordered, Simulated: true, Change: "KEP-5080",
		Now:      "the pods of a namespace are deleted first, and nothing else before the last one is gone",
		Before:   "the content of a namespace is deleted in no order",
		Scenario: "apisim/controllers/testdata/scenarios/release_ordered_namespaces.txt",
	},
	{
		Rule: EndpointsLabelled, Since: 33, Simulated: true, Change: "kubernetes/kubernetes#130564",
		Now:    "Endpoints that a controller keeps have a label that says so",
		Before: "all count as recreated as long as the Service exists",
	},
	{
		Rule: GraceEndsNow, Since: 33, Simulated: true, Change: "kubernetes/kubernetes#122646",
		Now:      "a grace period that is shortened below what has passed of it ends now",
		Before:   "it ends in the past",
		Scenario: "apisim/testdata/scenarios/release_grace.txt",
	},
	{
		Rule: BoundedStart, Since: 32, Change: "kubernetes/kubernetes#125796",
		Now:    "a garbage collector that starts waits 30 seconds for a kind that it cannot list, and then works without it",
		Before: "it waits forever; a running one stops for it when the served kinds change",
	},
	{
		Rule: TokensStayDeleted, Since: 24, Said: reason.TokenRenewed, Change: "KEP-2799",
		Now:    "a ServiceAccount gets no new token when its token is deleted",
		Before: "it gets one",
	},
	{
		Rule: OwnersByPlace, Since: 20, Said: reason.OwnerMisplaced, Change: "kubernetes/kubernetes#92743",
		Now:    "an owner is known by its place and uid",
		Before: "it is known by its uid alone: one reference to a wrong place can have every object with that owner deleted",
	},
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

package release

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Rule is a behaviour of the newest release that some older release lacks.
type Rule uint8

// The rules. Each is named for the behaviour of the newest release.
const (
	// UpdatesWithoutNamespace: an object can still be updated after its namespace is gone, so its
	// finalizers can be removed.
	UpdatesWithoutNamespace Rule = iota
	// EndpointsByController: only the Endpoints controller deletes the Endpoints of a deleted
	// Service. The API server no longer deletes them with the Service.
	EndpointsByController
	// DeletesPinned: the garbage collector sends the resourceVersion that it has read as a
	// precondition of its delete.
	DeletesPinned
	// InstancesForbidden: no request can create an instance of a CRD that is being deleted.
	InstancesForbidden
	// FewerFlowSchemas: the API server does not recreate the FlowSchemas endpoint-controller and
	// workload-leader-election.
	FewerFlowSchemas
	// OrderedNamespaces: nothing else in a namespace is deleted before its pods are gone.
	OrderedNamespaces
	// EndpointsLabelled: Endpoints that a controller maintains have a label that says so.
	EndpointsLabelled
	// GraceEndsNow: a grace period that is shortened to less than the time already passed ends
	// now, not in the past.
	GraceEndsNow
	// BoundedStart: a starting garbage collector waits at most 30 seconds for a kind that it
	// cannot list.
	BoundedStart
	// TokensStayDeleted: a ServiceAccount gets no new token Secret for a deleted one.
	TokensStayDeleted
	// OwnersByPlace: the garbage collector identifies an owner by its namespace, kind, name and
	// uid, not by its uid alone.
	OwnersByPlace
)

// Difference describes a rule and the release that introduced it.
type Difference struct {
	Rule Rule
	// Since is the first release that follows the rule by default.
	Since Minor
	// Now is what releases do since then, and Before what earlier ones did, as sentences without
	// a full stop.
	Now, Before string
	// Said is the code that reports the difference in a document; empty if no answer needs its
	// own remark about it.
	Said reason.Code
	// Simulated is true if the simulation of an older release behaves like that release. Otherwise
	// whatever the rule decides is Unknown for it.
	Simulated bool
	// Change is the pull request or the KEP of the difference.
	Change string
	// Scenario is the file, below internal, that shows both behaviours; empty if simulations do
	// not differ, or if no measured release is old enough.
	Scenario string
}

// Differences are all known differences, the newest first.
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

// DifferenceOf returns the difference that introduced a rule.
func DifferenceOf(rule Rule) Difference {
	for _, d := range Differences {
		if d.Rule == rule {
			return d
		}
	}
	return Difference{Rule: rule}
}

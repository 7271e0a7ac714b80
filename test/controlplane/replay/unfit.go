package replay

// unfit are the files that no real control plane can be asked, each with the reason.
var unfit = map[string]string{
	"garbage_collection_off.txt":            "the server runs with garbage collection",
	"s043_collections_refused.txt":          "needs an object that goes between two requests of the server itself",
	"s193_definition_being_deleted.txt":     "the server itself empties a CRD that is being deleted; the controllers' files show it with that",
	"namespace_emptied_in_any_order.txt":    "which of its worlds comes about is random; cell F of the differential meets both",
	"s193_discovered_while_terminating.txt": "the server itself finishes a CRD that has its clean-up finalizer; cell F of the differential shows it",
	"s194_definition_marked.txt":            "the server itself finishes a CRD that has its clean-up finalizer",
	"s064_node_deleted.txt":                 "the pod collector waits 40 s for a node to stay away",
	"s233_bound_volume.txt":                 "needs the binder of volumes, which says that one is released",
	"reclaim_policies.txt":                  "needs the binder of volumes and the drivers behind them; a test that lives through it shows it",
	"volume_claimed_again.txt":              "needs the binder of volumes and a driver",
	"load_balancer_taken_down.txt":          "needs a cloud",
	"s249_mirrored_slices.txt":              "needs the controller that mirrors Endpoints, which makes slices of its own; a test that lives through it shows it",
	"release_endpoints.txt":                 "needs the Endpoints controller; a test that lives through it shows it",
	"service_with_endpoints.txt":            "needs addresses that a server gives itself, and the Endpoints controller",
	"s240_resource_claims.txt":              "needs the ResourceClaim controller and a scheduler; a test that lives through it shows it",
	"s138_orphan_finalizer_by_hand.txt":     "a collector that runs is faster than the hand",
	"s196_definition_never_established.txt": "an instance of a kind that never came into force cannot be read",
	"s210_pods_first.txt":                   "the pod collector says Failed of a pod, at a time of its own",
}

// apart are objects of files that the real server does not get, each with the
// reason.
var apart = map[string]map[string]string{
	"s006_versions_and_defaults.txt": {
		"batch/v1 Job shop/a":          beta,
		"batch/v1beta1 Job shop/a":     beta,
		"batch/v1 CronJob shop/e":      beta,
		"batch/v1beta1 CronJob shop/e": beta,
	},
	"get.txt": {
		"rbac.authorization.k8s.io/v1beta1 ClusterRole admin": beta,
	},
	"s068_negative_grace.txt": {
		"v1 Pod shop/spec": "a server turns a negative period into one second when it reads it from storage",
	},
	"update_keeps.txt": {
		"v1 Namespace m": "a real server knows the spec of every namespace",
	},
}

const beta = "no server of this version serves the beta version"

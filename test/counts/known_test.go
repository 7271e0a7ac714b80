package counts

// known are the commands that execute more for each object the more there are: somewhere there is
// a loop over objects inside of a loop over objects. Who makes one linear takes it out; none is
// added.
var known = []string{
	"one-namespace: dry-run delete pods --all",
	"namespaces: risk --top 10",
	"namespaces: explain deployments.apps",
	"namespaces: explain namespaces",
	"namespaces: explain pods",
	"namespaces: explain persistentvolumeclaims",
	"namespaces: dry-run delete deployments.apps",
	"namespaces: dry-run delete namespaces",
	"namespaces: dry-run delete namespaces -o json",
	"namespaces: dry-run delete namespaces --steps",
	"namespaces: dry-run delete nodes node-0001 --ignore-not-found",
	"namespaces: dry-run delete pods --all",
	"finalizers: stuck -A",
	"finalizers: collect",
	"finalizers: risk --top 10",
	"finalizers: explain apps.fleet.example.com",
	"finalizers: explain fleets.fleet.example.com",
	"finalizers: explain parts.fleet.example.com",
	"finalizers: explain persistentvolumeclaims",
	"finalizers: dry-run delete fleets.fleet.example.com --cascade=foreground",
	"finalizers: dry-run delete nodes node-0001 --ignore-not-found",
	"finalizers: remove-finalizer parts.fleet.example.com fleet.example.com --all-of-kind -A --unlock=leak --max-deletes=10000000",
	"jobs: stuck -A",
	"jobs: explain cronjobs.batch",
	"jobs: explain pods",
	"storage: stuck -A",
	"uids: dry-run delete pods --all",
	"metadata: risk --top 10",
	"metadata: explain replicasets.apps",
	"metadata: explain deployments.apps",
	"metadata: explain pods",
	"metadata: dry-run delete deployments.apps",
	"metadata: dry-run delete deployments.apps -o json",
	"metadata: dry-run delete deployments.apps --steps",
	"metadata: dry-run delete deployments.apps --cascade=foreground",
	"metadata: dry-run delete deployments.apps --cascade=orphan",
	"metadata: dry-run delete pods --all",
	"listed: dry-run delete pods --all",
}

// hidden are those of which only the standard library executes more, such as slices.Index in a
// loop: that is counted when everything is tried.
var hidden = []string{
	"namespaces: stuck -A",
	"namespaces: collect",
	"operators: risk --top 10",
	"operators: explain secrets",
	"operators: dry-run delete platforms.platform.example.com -o json",
	"jobs: collect",
	"storage: collect",
}

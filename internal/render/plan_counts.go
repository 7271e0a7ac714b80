package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// kindCounts is a number of objects of each kind.
type kindCounts map[kindName]int

type kindName struct{ apiVersion, kind string }

func (c kindCounts) add(r report.Ref) { c[kindName{r.APIVersion, r.Kind}]++ }

// words are "2 Deployments", "6 Pods": workloads first, in the order from owner to
// dependent, then the most.
func (c kindCounts) words(s Style) []string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b kindName) int {
		return cmp.Or(workloadRank(a)-workloadRank(b), c[b]-c[a], strings.Compare(a.kind, b.kind), strings.Compare(a.apiVersion, b.apiVersion))
	})
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = countOf(s, c[k], k.apiVersion, k.kind)
	}
	return words
}

// workloads are the kinds that a person looks for first.
var workloads = []object.Kind{
	object.Namespace, object.CRD, object.Deployment, object.StatefulSet, object.DaemonSet, object.CronJob, object.Job, object.ReplicaSet,
	object.Pod, object.Service, object.ConfigMap,
}

func workloadRank(k kindName) int {
	group := object.GroupOf(k.apiVersion)
	i := slices.IndexFunc(workloads, func(w object.Kind) bool { return w.Group == group && w.Kind == k.kind })
	if i < 0 {
		return len(workloads)
	}
	return i
}

// shortKinds are the kinds that people call by letters.
var shortKinds = map[string]string{
	object.PVC.Kind: "PVC", object.PV.Kind: "PV", object.CRD.Kind: "CRD", "HorizontalPodAutoscaler": "HPA", "PodDisruptionBudget": "PDB",
}

// countOf is "1 Pod", "3 NetworkPolicies" or "5 Endpoints".
func countOf(s Style, n int, apiVersion, kind string) string {
	noun, ours := shortKinds[kind]
	switch {
	case ours && !strings.Contains(apiVersion, "."), ours && strings.HasSuffix(object.GroupOf(apiVersion), ".k8s.io"):
	default:
		noun = s.text(kind)
	}
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "points"):
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !isVowel(noun[len(noun)-2]):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func isVowel(letter byte) bool { return strings.IndexByte("aeiou", letter) >= 0 }

// noise are kinds that Kubernetes makes by itself, and that nobody misses.
var noise = []object.Kind{object.Endpoints, object.EndpointSlice, object.IPAddress, object.Lease, object.ControllerRevision}

// Generated reports whether an object is made by Kubernetes for others, and goes with
// them.
func Generated(r report.Ref) bool {
	group := object.GroupOf(r.APIVersion)
	switch {
	case group == "" && r.Kind == object.ConfigMap.Kind:
		return r.Name == "kube-root-ca.crt"
	case group == "" && r.Kind == object.ServiceAccount.Kind:
		return r.Name == "default"
	default:
		return slices.ContainsFunc(noise, func(k object.Kind) bool { return k.Group == group && k.Kind == r.Kind })
	}
}

// hiddenCounts are objects that the first screen only counts.
type hiddenCounts struct{ events, generated int }

func hiddenText(h hiddenCounts) string {
	var parts []string
	if h.events > 0 {
		parts = append(parts, plural(h.events, "Event"))
	}
	if h.generated > 0 {
		parts = append(parts, plural(h.generated, "generated object"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Hidden: " + strings.Join(parts, ", ") + ". "
}

// restOf counts what is deleted and no data, and what of that only makes noise.
func restOf(p *report.Plan, caused []report.Effect) (rest kindCounts, hidden hiddenCounts) {
	rest = kindCounts{}
	data := dataKinds(p)
	for i := range caused {
		e := &caused[i]
		switch target := slices.Contains(p.Seed.Targets, e.Object); {
		case e.Outcome != report.Deleted || data[kindName{e.Object.APIVersion, e.Object.Kind}] != "":
		case isEvent(e.Object) && !target:
			hidden.events++
		case Generated(e.Object) && !target:
			hidden.generated++
		default:
			rest.add(e.Object)
		}
	}
	return rest, hidden
}

// dataKinds says of which kinds the objects hold data.
func dataKinds(p *report.Plan) map[kindName]report.Data {
	kinds := map[kindName]report.Data{}
	for _, c := range p.Summary.ByKind {
		if c.Data != "" {
			kinds[kindName{c.APIVersion, c.Kind}] = c.Data
		}
	}
	return kinds
}

// dataCounts are "6 PVCs (no volume bound)", "10 Secrets", "5 Databases": the data that
// goes, or may go, now or later, and what stays of it.
func dataCounts(s Style, p *report.Plan, caused []report.Effect) []string {
	kinds := dataKinds(p)
	storage := map[report.Ref]*report.Storage{}
	covered := map[report.Ref]bool{}
	for i := range p.Storage {
		x := &p.Storage[i]
		storage[x.Of()] = x
		if x.Claim != nil && x.Volume != nil {
			covered[*x.Volume] = true
		}
	}
	volumes, others := map[volumeEnd]int{}, kindCounts{}
	for i := range caused {
		e := &caused[i]
		if !goesNowOrLater(e) && e.Reason != claimLeft {
			continue
		}
		switch kinds[kindName{e.Object.APIVersion, e.Object.Kind}] {
		case "":
		case report.VolumeData:
			if !covered[e.Object] {
				volumes[volumeEnd{kindName{e.Object.APIVersion, e.Object.Kind}, storageEnd(e, storage[e.Object])}]++
			}
		default:
			others.add(e.Object)
		}
	}
	var words []string
	for _, v := range slices.SortedFunc(maps.Keys(volumes), func(a, b volumeEnd) int {
		return cmp.Or(-strings.Compare(a.kind, b.kind), strings.Compare(a.end, b.end))
	}) {
		words = append(words, countOf(s, volumes[v], v.apiVersion, v.kind)+" ("+v.end+")")
	}
	return append(words, others.words(s)...)
}

// volumeEnd is what becomes of the storage behind a claim or volume.
type volumeEnd struct {
	kindName
	end string
}

func storageEnd(e *report.Effect, x *report.Storage) string {
	switch {
	case e.Outcome == report.Kept:
		return "stays"
	case x == nil:
		return "no volume bound"
	case x.Outcome == report.Deleted:
		return "data is deleted"
	case x.Outcome == report.Kept:
		return "data stays"
	default:
		return "data unknown"
	}
}

// isEvent reports whether an object is an Event, of either group that serves them.
func isEvent(r report.Ref) bool {
	group := object.GroupOf(r.APIVersion)
	return r.Kind == "Event" && (group == "" || group == "events.k8s.io")
}

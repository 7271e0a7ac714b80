package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// kindCounts is a number of objects by kind.
type kindCounts map[kindName]int

type kindName struct{ apiVersion, kind string }

func (c kindCounts) add(r object.Ref) { c[kindName{r.APIVersion, r.Kind}]++ }

// texts returns "2 Deployments", "6 Pods": workloads first, in the order from owner to dependent,
// then by count.
func (c kindCounts) texts(s Style) []string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b kindName) int {
		return cmp.Or(workloadRank(a)-workloadRank(b), c[b]-c[a], strings.Compare(a.kind, b.kind), strings.Compare(a.apiVersion, b.apiVersion))
	})
	return object.Mapped(kinds, func(k kindName) string { return countOf(s, c[k], k.apiVersion, k.kind) })
}

// workloads are the kinds that are listed first.
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

// kindAbbreviations are common abbreviations of long kinds.
var kindAbbreviations = map[schema.GroupKind]string{
	object.PVC.GroupKind: "PVC", object.PV.GroupKind: "PV", object.CRD.GroupKind: "CRD",
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "HPA", {Group: "policy", Kind: "PodDisruptionBudget"}: "PDB",
}

// countOf returns "1 Pod", "3 NetworkPolicies" or "5 Endpoints".
func countOf(s Style, n int, apiVersion, kind string) string {
	return strconv.Itoa(n) + " " + nounOf(s, n, apiVersion, kind)
}

// nounOf returns the name of a kind in singular or plural.
func nounOf(s Style, n int, apiVersion, kind string) string {
	noun := cmp.Or(kindAbbreviations[schema.GroupKind{Group: object.GroupOf(apiVersion), Kind: kind}], s.text(kind))
	switch {
	case n == 1, strings.HasSuffix(noun, "points"):
		return noun
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return strings.TrimSuffix(noun, "y") + "ies"
	default:
		return noun + "s"
	}
}

// withoutEvents leaves out Events that are deleted as a consequence: they expire anyway, and help
// no decision. Targets and blocking Events stay.
func withoutEvents(p *report.Plan, effects []report.Effect) []report.Effect {
	aside := func(e report.Effect) bool {
		return e.Object.IsEvent() && (e.Outcome == report.Deleted || e.Outcome == report.Unknown) && !slices.Contains(p.Seed.Targets, e.Object)
	}
	if !slices.ContainsFunc(effects, aside) {
		return effects
	}
	return slices.DeleteFunc(slices.Clone(effects), aside)
}

// hiddenText counts generated objects that a first screen leaves out.
func hiddenText(generated int) string {
	if generated == 0 {
		return ""
	}
	return "Hidden: " + report.Plural(generated, "generated object") + ". "
}

// otherCounts counts deleted objects without data, generated ones separately.
func otherCounts(p *report.Plan, caused []report.Effect) (rest kindCounts, generated int) {
	rest = kindCounts{}
	data, targets := dataKinds(p), targetsOf(p)
	for i := range caused {
		e := &caused[i]
		switch {
		case e.Outcome != report.Deleted || data[kindName{e.Object.APIVersion, e.Object.Kind}] != "":
		case e.Object.Generated() && !targets[e.Object]:
			generated++
		default:
			rest.add(e.Object)
		}
	}
	return rest, generated
}

// targetsOf returns the set of targets.
func targetsOf(p *report.Plan) map[object.Ref]bool {
	return object.SetOf(p.Seed.Targets, func(t object.Ref) object.Ref { return t })
}

// dataKinds returns the kinds of the plan that hold data.
func dataKinds(p *report.Plan) map[kindName]report.Data {
	kinds := map[kindName]report.Data{}
	for _, c := range p.Summary.ByKind {
		if c.Data != "" {
			kinds[kindName{c.APIVersion, c.Kind}] = c.Data
		}
	}
	return kinds
}

// dataCounts returns "6 PVCs (no volume bound)", "10 Secrets", "5 Databases": the data that is or
// may be deleted, now or later, and claims that remain.
func dataCounts(s Style, p *report.Plan, caused []report.Effect) []string {
	kinds := dataKinds(p)
	storage := map[object.Ref]*report.Storage{}
	covered := map[object.Ref]bool{}
	for i := range p.Storage {
		x := &p.Storage[i]
		storage[x.Of()] = x
		if x.Claim != nil && x.Volume != nil {
			covered[*x.Volume] = true
		}
	}
	volumes, others := map[volumeOutcome]int{}, kindCounts{}
	for i := range caused {
		e := &caused[i]
		if !e.MayBeDeleted() && e.Reason != string(reason.PVCLeft) {
			continue
		}
		switch kinds[kindName{e.Object.APIVersion, e.Object.Kind}] {
		case "":
		case report.VolumeData:
			if !covered[e.Object] {
				volumes[volumeOutcome{kindName{e.Object.APIVersion, e.Object.Kind}, storageOutcome(e, storage[e.Object])}]++
			}
		default:
			others.add(e.Object)
		}
	}
	var words []string
	for _, v := range slices.SortedFunc(maps.Keys(volumes), func(a, b volumeOutcome) int {
		return cmp.Or(-strings.Compare(a.kind, b.kind), strings.Compare(a.outcome, b.outcome))
	}) {
		words = append(words, countOf(s, volumes[v], v.apiVersion, v.kind)+" ("+v.outcome+")")
	}
	return append(words, others.texts(s)...)
}

// volumeOutcome is a kind with the outcome of its storage.
type volumeOutcome struct {
	kindName
	outcome string
}

func storageOutcome(e *report.Effect, x *report.Storage) string {
	switch {
	case e.Outcome == report.Kept && e.Later == "":
		return "data stays"
	case x == nil:
		return "no volume bound"
	case x.Outcome == report.Deleted && e.Outcome == report.Kept:
		return "data may be deleted"
	case x.Outcome == report.Deleted:
		return "data is deleted"
	case x.Outcome == report.Kept:
		return "data stays"
	default:
		return "data unknown"
	}
}

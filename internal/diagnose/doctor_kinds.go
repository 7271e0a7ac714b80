package diagnose

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// kinds adds findings for kinds that the collector does not see, or would not see if it started now.
func (e *examiner) kinds() {
	told := map[object.Ref]bool{}
	for _, g := range e.now.snap.Gaps {
		switch {
		case g.Resource == snapshot.EveryResource:
			group, version := object.SplitAPIVersion(g.APIVersion)
			e.add(reason.GroupUndiscovered, object.APIService.Ref("", version+"."+group), "what it serves is unknown", object.WithoutCode(g.Why))
		case g.Reason() == reason.ListFailed:
			kind := e.kindOf(g)
			if !told[kind] {
				told[kind] = true
				e.add(reason.KindUnlisted, kind, "it cannot be listed: "+e.atRestart(), object.WithoutCode(g.Why))
			}
		}
	}
	e.unwatched()
}

// kindOf returns the CRD of the resource of a gap; its kind if there is no CRD.
func (e *examiner) kindOf(g snapshot.Gap) object.Ref {
	gr := schema.GroupResource{Group: object.GroupOf(g.APIVersion), Resource: g.Resource}
	if o := e.now.snap.FindKind(object.CRD, "", gr.String()); o != nil {
		return o.Ref
	}
	r, _ := e.now.snap.Resources.Preferred(gr)
	return object.Ref{APIVersion: g.APIVersion, Kind: r.Kind}
}

// atRestart describes the effect of a kind that cannot be listed on a collector that starts.
func (e *examiner) atRestart() string {
	// (spec §3.1)
	v := e.now.snap.Version()
	_, known := v.Minor()
	switch {
	case !known:
		return "a collector that starts now is blind for it; before Kubernetes 1.32 it does not start at all, and one that runs stops when other kinds come or go"
	case v.MayLack(release.BoundedStart):
		return "a collector that starts now does not start at all, and one that runs stops when other kinds come or go"
	default:
		return "a collector that starts now is blind for it"
	}
}

// unwatched adds findings for kinds without the verbs that the collector needs, if that matters:
// users can create objects of the kind, or owner references lead from or to it.
func (e *examiner) unwatched() {
	matters := map[schema.GroupResource]bool{}
	for _, o := range e.now.snap.Objects {
		if len(o.Owners) == 0 {
			continue
		}
		e.mark(matters, o.APIVersion, o.Kind)
		for _, ref := range o.Owners {
			e.mark(matters, ref.APIVersion, ref.Kind)
		}
	}
	rs := e.now.snap.Resources
	for _, r := range rs.Sorted() {
		p, _ := rs.Preferred(r.GroupResource())
		needed := object.Delete | object.List | object.Watch
		if r.Guessed || r.Version != p.Version || r.Verbs.Has(needed) || !matters[r.GroupResource()] && !r.Verbs.Has(object.Create|object.List) {
			continue
		}
		missing := slices.DeleteFunc(needed.Names(), func(verb string) bool { return r.Verbs.Has(object.VerbsOf([]string{verb})) })
		e.add(reason.KindUnwatched, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind}, "it cannot be collected: it lacks "+strings.Join(missing, " and "), "")
	}
}

func (e *examiner) mark(set map[schema.GroupResource]bool, apiVersion, kind string) {
	if r, err := e.now.snap.Resources.For(apiVersion, kind); err == nil && r.Served() {
		set[r.GroupResource()] = true
	}
}

package lost

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// tick is the maximum distance, in seconds, between known times of a cluster.
const tick = 15

// addLimits adds which parts of the requested history are unknown.
func (d *document) addLimits() {
	past := d.a.Past
	switch {
	case d.q.SinceRevision != 0:
		d.out.Asked = &report.Moment{Revision: int64(d.q.SinceRevision)}
		d.out.Short = past.From.Revision > d.q.SinceRevision
	case d.q.Since != 0 && past.Timeless:
		d.out.SinceIgnored = ignored(past)
	case d.q.Since != 0 && past.To.Time != 0:
		since := past.To.Time - int64(d.q.Since/time.Second)
		d.out.Asked = &report.Moment{Time: momentOf(history.Moment{Time: since}).Time}
		d.out.Short = past.From.Time == 0 || past.From.Time > since+tick
	}
	for i := range past.Limits {
		l := &past.Limits[i]
		if d.matters(l.Resource) {
			d.addLimit(l)
		}
	}
	d.addGoneKinds()
	slices.SortFunc(d.out.Limits, func(a, b report.HistoryLimit) int {
		return strings.Compare(a.APIVersion+" "+a.Resource, b.APIVersion+" "+b.Resource)
	})
	slices.SortFunc(d.out.Gaps, func(a, b report.Gap) int {
		return strings.Compare(a.APIVersion+" "+a.Resource, b.APIVersion+" "+b.Resource)
	})
}

// ignored returns why the revision of a time is unknown.
func ignored(past *history.Past) report.SinceIgnored {
	for i := range past.Limits {
		if l := &past.Limits[i]; l.Resource.Is(object.Lease) && isForbidden(l) {
			return report.LeasesForbidden
		}
	}
	return report.NoLeaseRenewed
}

func isForbidden(l *history.Limit) bool { return strings.Contains(strings.ToLower(l.Why), "forbidden") }

// addGoneKinds adds gaps for the kinds of CRDs that are gone, or exist again in a form that cannot
// read the old objects: these are not shown. A file still shows the objects that it has.
func (d *document) addGoneKinds() {
	crds := definitionsOf(d.a)
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		crd := l.Object.Definition()
		if crd == nil || l.Gone == 0 || len(crd.Versions) == 0 || !d.matters(object.Resource{Group: crd.Group, Kind: crd.Kind, Namespaced: crd.Namespaced}) {
			continue
		}
		now := crds.of(l)
		switch version := cmp.Or(now.lacks, crd.Versions[0].Name); {
		case !now.served && len(now.last.Versions) > 0:
			d.addGoneKind(report.Gap{APIVersion: crd.Group + "/" + now.last.Versions[0].Name, Resource: crd.Plural, Why: string(reason.CRDGone)})
		case now.unread != "" && d.q.Source.Type == "cluster":
			d.addGoneKind(report.Gap{APIVersion: crd.Group + "/" + version, Resource: crd.Plural, Why: string(now.unread)})
		}
	}
}

// addGoneKind adds a gap unless it is there already: a CRD may be deleted, created and deleted again.
func (d *document) addGoneKind(g report.Gap) {
	if !slices.Contains(d.out.Gaps, g) {
		d.out.Gaps = append(d.out.Gaps, g)
	}
}

// matters reports whether an object of the kind may be a subject of the question, or may have taken
// one along.
func (d *document) matters(r object.Resource) bool {
	if d.q.Objects != nil && !d.takes() {
		return d.bearing()[schema.GroupKind{Group: r.Group, Kind: r.Kind}]
	}
	return r.Namespaced || d.q.Namespace == "" && d.q.Objects == nil || r.Is(object.Namespace) || r.Is(object.CRD) ||
		slices.ContainsFunc(d.q.Objects, func(o object.Ref) bool { return r.Kind == o.Kind && r.Group == o.Group() })
}

// addLimit adds a kind with a history that starts later, has holes, or is missing.
func (d *document) addLimit(l *history.Limit) {
	gap := report.Gap{APIVersion: l.Resource.APIVersion(), Resource: l.Resource.Name, Matters: true}
	switch {
	case l.From.Revision > d.a.Past.From.Revision:
		d.out.Limits = append(d.out.Limits, report.HistoryLimit{
			APIVersion: gap.APIVersion, Resource: gap.Resource, From: momentOf(l.From), Listed: l.Listed, Why: coded(reason.Expired, l.Why),
		})
		return
	case l.From.Revision != 0:
		gap.Why = coded(reason.Partial, l.Why)
	case isForbidden(l):
		gap.Why = coded(reason.Forbidden, l.Why)
	default:
		gap.Why = coded(reason.ListFailed, l.Why)
	}
	d.out.Gaps = append(d.out.Gaps, gap)
}

var hasCode = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(: |$)`)

// coded returns why something is unknown, with a code in front.
func coded(code reason.Code, why string) string {
	switch {
	case hasCode.MatchString(why):
		return why
	case why == "":
		return string(code)
	}
	return string(code) + ": " + why
}

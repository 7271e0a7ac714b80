package past

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LostQuestion selects what an account is asked for.
type LostQuestion struct {
	// Source is where the history was read.
	Source report.Source
	// Namespace limits the question to one namespace; empty for all.
	Namespace string
	// Objects limits the question to these objects, in any version and with any uid; nil for all.
	Objects []object.Ref
	// Since limits how far back the question goes, and SinceRevision does the same in revisions; 0
	// for all of the history.
	Since         time.Duration
	SinceRevision uint64
	// Undo is true if deleted objects can be brought back. File has the flags that name the file
	// with their content; empty for the cluster itself.
	Undo bool
	File string
}

// LostDocument returns the answer of the account to the question.
func LostDocument(a *Account, q LostQuestion) *report.Lost {
	d := &document{a: a, q: q, selected: selectRelated(a, q), routine: q.markRoutine(a), notable: make([]bool, len(a.Requests)), crds: map[schema.GroupKind]bool{}, explained: make([][]int, len(a.Requests)), out: &report.Lost{
		Header: report.HeaderOf("Lost"), Source: q.Source, Namespace: q.Namespace,
		From: momentOf(a.Past.From), To: momentOf(a.Past.To),
		Requests: []report.LostRequest{}, Losses: []report.Loss{}, Limits: []report.HistoryLimit{}, Gaps: []report.Gap{},
	}}
	d.out.Targets = append(d.out.Targets, q.Objects...)
	d.indexLosses()
	d.addLosses()
	d.addRecreated()
	d.addRequests()
	d.addLimits()
	if log := d.a.Past.Log; log != nil {
		d.out.AuditLog = &report.AuditLog{From: formatMicros(log.First), To: formatMicros(log.Last), Requests: len(log.Requests), CutOff: log.Truncated}
	}
	d.out.Complete = !d.out.Short && d.out.SinceIgnored == "" && len(d.out.Gaps)+len(d.out.Limits) == 0
	if q.Undo {
		d.addUndo()
	}
	return d.out
}

// document is a document under construction.
type document struct {
	a *Account
	q LostQuestion
	// selected has a flag for each loss that is part of the answer.
	selected []bool
	// routine marks the losses of normal operation.
	routine []bool
	// notable marks the requests of clients that caused any other loss.
	notable []bool
	// crds has the kinds of deleted CRDs, which are no longer served.
	crds map[schema.GroupKind]bool
	// topmost has the topmost controllers of objects, computed on first use.
	topmost map[types.UID]types.UID
	// explained has the losses of each request in the document, by their indexes in it.
	explained [][]int
	out       *report.Lost
}

func (d *document) addLosses() {
	for i := range d.a.Losses {
		if !d.selected[i] {
			continue
		}
		l := &d.a.Losses[i]
		out := report.Loss{
			Object: l.Object.Ref, State: stateOf(l), Began: d.beganAt(l), LossCause: causeOf(l.Cause), Routine: d.routine[i],
			Sent: sentOf(l.Sent, l.Match),
		}
		if l.Gone != 0 {
			gone := d.notBefore(d.a.Past.Clock.At(l.Gone), l)
			if l.Gone == l.Began {
				gone = out.Began
			}
			out.Gone = &gone
		}
		if !l.Orphaned {
			out.Policy = string(l.Policy)
		}
		out.Owners = append(out.Owners, l.Owners...)
		out.Or = append(out.Or, object.Mapped(l.Or, causeOf)...)
		if l.Contradicts != nil {
			against := causeOf(*l.Contradicts)
			out.Contradicts = &against
		}
		if d.q.isNamed(l.Object.Ref) {
			d.addOwnersAndReplacements(&out, l)
		}
		if r := l.Cause.Request; r >= 0 {
			d.explained[r] = append(d.explained[r], len(d.out.Losses))
		}
		d.out.Losses = append(d.out.Losses, out)
		countLoss(&d.out.Summary, &out)
	}
}

// beganAt returns when a loss began. If it was requested directly, the time of the request is the
// most precise.
func (d *document) beganAt(l *Loss) report.Moment {
	if r := l.Cause.Request; r >= 0 && d.a.Requests[r].At.Revision == l.Began {
		return momentOf(d.a.Requests[r].At)
	}
	return d.notBefore(d.a.Past.Clock.At(l.Began), l)
}

// notBefore returns m as a moment of a loss that is not earlier than the request of the loss. The
// clock may be some seconds early, and the audit log may have the exact time of the request.
func (d *document) notBefore(m Moment, l *Loss) report.Moment {
	if r := l.Cause.Request; r >= 0 && m.Time != 0 && m.Revision >= d.a.Requests[r].At.Revision {
		m.Time = max(m.Time, d.a.Requests[r].At.Time)
	}
	return momentOf(m)
}

func countLoss(sum *report.LostSummary, l *report.Loss) {
	switch {
	case l.Routine:
		sum.Routine++
		return
	case l.State == report.LossDeleted:
		sum.Deleted++
	case l.State == report.LossBeingDeleted:
		sum.BeingDeleted++
	default:
		sum.Orphaned++
	}
	if l.Request == 0 {
		sum.WithoutRequest++
	}
}

// addRequests adds the requests that a loss of the document refers to. They keep their numbers of
// the account.
func (d *document) addRequests() {
	named := map[int]bool{}
	for i := range d.out.Losses {
		l := &d.out.Losses[i]
		named[l.Request] = true
		for _, other := range l.Or {
			named[other.Request] = true
		}
	}
	elsewhere := map[object.Coordinates]bool{}
	for i := range d.a.Requests {
		r := &d.a.Requests[i]
		objects, took := d.objectsOf(r), r.Explains
		if len(objects) < len(r.Losses) {
			took = len(d.explained[i])
		}
		switch usual := !d.notable[i]; {
		case named[i+1]:
			d.out.Requests = append(d.out.Requests, report.LostRequest{
				N: i + 1, Objects: objects, Policy: string(r.Policy), At: momentOf(r.At),
				Certain: r.Certain, Took: took, ByKind: d.byKind(d.explained[i]), Routine: usual,
				Sent: d.senderOf(r),
			})
		case !usual && d.q.Objects == nil:
			for _, o := range objects { // once, even if it was created and deleted several times
				if at := o.Coordinates(); !elsewhere[at] {
					elsewhere[at] = true
					d.out.Elsewhere = append(d.out.Elsewhere, o)
				}
			}
		}
	}
}

// objectsOf returns the objects of a request that are part of the question; all of them if none is.
func (d *document) objectsOf(r *Request) []object.Ref {
	var all, asked []object.Ref
	for _, l := range r.Losses {
		ref := d.a.Losses[l].Object.Ref
		all = append(all, ref)
		if d.selected[l] {
			asked = append(asked, ref)
		}
	}
	if len(asked) > 0 {
		return sorted(asked)
	}
	return sorted(all)
}

func stateOf(l *Loss) report.LossState {
	switch {
	case l.Orphaned:
		return report.LossOrphaned
	case l.Gone == 0:
		return report.LossBeingDeleted
	default:
		return report.LossDeleted
	}
}

func causeOf(c Cause) report.LossCause {
	out := report.LossCause{Code: string(c.Code), Request: c.Request + 1}
	if c.By != (object.Ref{}) {
		by := c.By
		out.By = &by
	}
	return out
}

func momentOf(m Moment) report.Moment {
	out := report.Moment{Revision: int64(m.Revision)}
	if m.Time != 0 {
		out.Time = time.Unix(m.Time, 0).UTC().Format(time.RFC3339)
	}
	return out
}

// sentOf converts a request of the audit log; nil for nil.
func sentOf(r *AuditedRequest, match Match) *report.Sent {
	if r == nil {
		return nil
	}
	out := &report.Sent{
		Verb: string(r.Verb), User: r.User, ImpersonatedUser: r.Impersonated, UserAgent: r.Agent, SourceIPs: r.Addresses,
		Time: formatMicros(r.Received), AuditIDs: []string{r.ID}, MatchedBy: string(match),
	}
	if r.Options != nil {
		out.Options = &report.SentOptions{PropagationPolicy: string(r.Options.Policy), GracePeriodSeconds: r.Options.Grace}
	}
	return out
}

// senderOf returns the sender of a request with all its parts. MatchedBy is that of the least
// certain part.
func (d *document) senderOf(r *Request) *report.Sent {
	if len(r.Sent) == 0 {
		return nil
	}
	match := ByUID
	for _, i := range r.Losses {
		if l := &d.a.Losses[i]; l.Sent != nil && (l.Match == BySelector || match == ByUID) {
			match = l.Match
		}
	}
	out := sentOf(r.Sent[0], match)
	for _, other := range r.Sent[1:] {
		out.AuditIDs = append(out.AuditIDs, other.ID)
	}
	return out
}

// formatMicros formats a time in microseconds; empty for 0, which means unknown.
func formatMicros(at int64) string {
	if at == 0 {
		return ""
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

// addLimits adds which parts of the requested history are unknown.
func (d *document) addLimits() {
	record := d.a.Past
	switch {
	case d.q.SinceRevision != 0:
		d.out.Asked = &report.Moment{Revision: int64(d.q.SinceRevision)}
		d.out.Short = record.From.Revision > d.q.SinceRevision
	case d.q.Since != 0 && record.Timeless:
		d.out.SinceIgnored = sinceIgnored(record)
	case d.q.Since != 0 && record.To.Time != 0:
		since := record.To.Time - int64(d.q.Since/time.Second)
		d.out.Asked = &report.Moment{Time: momentOf(Moment{Time: since}).Time}
		d.out.Short = record.From.Time == 0 || record.From.Time > since+maxTickGap
	}
	for i := range record.Limits {
		l := &record.Limits[i]
		if d.isRelevant(l.Resource) {
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

// sinceIgnored returns why the revision of a time is unknown.
func sinceIgnored(record *Record) report.SinceIgnored {
	for i := range record.Limits {
		if l := &record.Limits[i]; l.Resource.Is(object.Lease) && isForbidden(l) {
			return report.LeasesForbidden
		}
	}
	return report.NoLeaseRenewed
}

func isForbidden(l *Limit) bool { return strings.Contains(strings.ToLower(l.Why), "forbidden") }

// addGoneKinds adds gaps for the kinds of CRDs that are gone, or exist again in a form that cannot
// read the old objects: these are not shown. A file still shows the objects that it has.
func (d *document) addGoneKinds() {
	crds := crdStatesOf(d.a)
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		crd := l.Object.Definition()
		if crd == nil || l.Gone == 0 || len(crd.Versions) == 0 || !d.isRelevant(object.Resource{Group: crd.Group, Kind: crd.Kind, Namespaced: crd.Namespaced}) {
			continue
		}
		now := crds.stateOf(l)
		switch version := cmp.Or(now.missingVersion, crd.Versions[0].Name); {
		case !now.served && len(now.last.Versions) > 0:
			d.addGoneKind(report.Gap{APIVersion: crd.Group + "/" + now.last.Versions[0].Name, Resource: crd.Plural, Why: string(reason.CRDGone)})
		case now.unread != "" && d.q.Source.Type == "cluster":
			d.addGoneKind(report.Gap{APIVersion: crd.Group + "/" + version, Resource: crd.Plural, Why: string(now.unread)})
		}
	}
}

// addGoneKind adds a gap unless it is there already: a CRD may be deleted, created and deleted
// again.
func (d *document) addGoneKind(g report.Gap) {
	if !slices.Contains(d.out.Gaps, g) {
		d.out.Gaps = append(d.out.Gaps, g)
	}
}

// isRelevant reports whether an object of the kind may be a subject of the question, or may have
// taken one along.
func (d *document) isRelevant(r object.Resource) bool {
	if d.q.Objects != nil && !d.tookOthers() {
		return d.relevantKinds()[r.GroupKind()]
	}
	return r.Namespaced || d.q.Namespace == "" && d.q.Objects == nil || r.HoldsContainers() ||
		slices.ContainsFunc(d.q.Objects, func(o object.Ref) bool { return r.Kind == o.Kind && r.Group == o.Group() })
}

// addLimit adds a kind with a history that starts later, has holes, or is missing.
func (d *document) addLimit(l *Limit) {
	gap := report.Gap{APIVersion: l.Resource.APIVersion(), Resource: l.Resource.Name, Matters: true}
	switch {
	case l.From.Revision > d.a.Past.From.Revision:
		d.out.Limits = append(d.out.Limits, report.HistoryLimit{
			APIVersion: gap.APIVersion, Resource: gap.Resource, From: momentOf(l.From), Listed: l.Listed, Why: withCode(reason.Expired, l.Why),
		})
		return
	case l.From.Revision != 0:
		gap.Why = withCode(reason.Partial, l.Why)
	case isForbidden(l):
		gap.Why = withCode(reason.Forbidden, l.Why)
	default:
		gap.Why = withCode(reason.ListFailed, l.Why)
	}
	d.out.Gaps = append(d.out.Gaps, gap)
}

var hasCode = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(: |$)`)

// withCode returns why something is unknown, with a code in front.
func withCode(code reason.Code, why string) string {
	switch {
	case hasCode.MatchString(why):
		return why
	case why == "":
		return string(code)
	}
	return string(code) + ": " + why
}

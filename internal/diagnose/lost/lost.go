package lost

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Question selects what an account is asked for.
type Question struct {
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
	// Undo: deleted objects can be brought back. File has the flags that name the file with their
	// content; empty for the cluster itself.
	Undo bool
	File string
}

// Document returns the answer of the account to the question.
func Document(a *history.Account, q Question) *report.Lost {
	d := &document{index: indexOf(a, &q), a: a, q: q, picked: story(a, q), took: make([][]int, len(a.Requests)), out: &report.Lost{
		APIVersion: report.APIVersion, Kind: "Lost", Source: q.Source, Namespace: q.Namespace,
		From: momentOf(a.Past.From), To: momentOf(a.Past.To),
		Requests: []report.LostRequest{}, Losses: []report.Loss{}, Limits: []report.HistoryLimit{}, Gaps: []report.Gap{},
	}}
	for _, ref := range q.Objects {
		d.out.Targets = append(d.out.Targets, report.RefOf(ref))
	}
	d.addLosses()
	d.addAgain()
	d.addRequests()
	d.addLimits()
	d.addLog()
	d.out.Complete = !d.out.Short && d.out.SinceIgnored == "" && len(d.out.Gaps)+len(d.out.Limits) == 0
	if q.Undo {
		d.addUndo()
	}
	return d.out
}

// document is a document under construction.
type document struct {
	index
	a *history.Account
	q Question
	// picked has a flag for each loss that is part of the answer.
	picked []bool
	// above has the topmost controllers of objects, computed on first use.
	above map[types.UID]types.UID
	// took has the losses of each request in the document, by their indexes in it.
	took [][]int
	out  *report.Lost
}

func (d *document) addLosses() {
	for i := range d.a.Losses {
		if !d.picked[i] {
			continue
		}
		l := &d.a.Losses[i]
		out := report.Loss{
			Object: report.RefOf(l.Object.Ref), State: stateOf(l), Began: d.began(l), LossCause: causeOf(l.Cause), Routine: d.usual[i],
			Sent: sentOf(l.Sent, l.Match),
		}
		if l.Gone != 0 {
			gone := d.notBefore(d.a.Past.Clock.At(l.Gone), l)
			if l.Gone == l.Asked {
				gone = out.Began
			}
			out.Gone = &gone
		}
		if !l.Orphaned {
			out.Policy = policyNames[l.Policy]
		}
		for _, owner := range l.Owners {
			out.Owners = append(out.Owners, report.RefOf(owner))
		}
		for _, other := range l.Or {
			out.Or = append(out.Or, causeOf(other))
		}
		if l.Contradicts != nil {
			against := causeOf(*l.Contradicts)
			out.Contradicts = &against
		}
		if d.q.isNamed(l.Object.Ref) {
			d.addFate(&out, l)
		}
		if r := l.Cause.Request; r >= 0 {
			d.took[r] = append(d.took[r], len(d.out.Losses))
		}
		d.out.Losses = append(d.out.Losses, out)
		count(&d.out.Summary, &out)
	}
}

// began returns when a loss began. If it was requested directly, the time of the request is the most
// precise.
func (d *document) began(l *history.Loss) report.Moment {
	if r := l.Cause.Request; r >= 0 && d.a.Requests[r].At.Revision == l.Asked {
		return momentOf(d.a.Requests[r].At)
	}
	return d.notBefore(d.a.Past.Clock.At(l.Asked), l)
}

// notBefore returns m as a moment of a loss. The clock may be some seconds early. No loss is earlier
// than its request, and the audit log may have the exact time of that.
func (d *document) notBefore(m history.Moment, l *history.Loss) report.Moment {
	if r := l.Cause.Request; r >= 0 && m.Time != 0 && m.Revision >= d.a.Requests[r].At.Revision {
		m.Time = max(m.Time, d.a.Requests[r].At.Time)
	}
	return momentOf(m)
}

func count(sum *report.LostSummary, l *report.Loss) {
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

// addRequests adds the requests that a loss of the document refers to. They keep their numbers of the
// account.
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
		objects, took := d.objectsOf(r), r.Took
		if len(objects) < len(r.Losses) {
			took = len(d.took[i])
		}
		switch usual := !d.missed[i]; {
		case named[i+1]:
			d.out.Requests = append(d.out.Requests, report.LostRequest{
				N: i + 1, Objects: objects, Policy: policyNames[r.Policy], At: momentOf(r.At),
				Certain: r.Certain, Took: took, ByKind: d.byKind(d.took[i]), Routine: usual,
				Sent: d.senderOf(r),
			})
		case !usual && d.q.Objects == nil:
			for _, o := range objects { // once, even if it was created and deleted several times
				if at := object.Ref(o).Coordinates(); !elsewhere[at] {
					elsewhere[at] = true
					d.out.Elsewhere = append(d.out.Elsewhere, o)
				}
			}
		}
	}
}

// objectsOf returns the objects of a request that are part of the question; all of them if none is.
func (d *document) objectsOf(r *history.Request) []report.Ref {
	var all, asked []report.Ref
	for _, l := range r.Losses {
		ref := report.RefOf(d.a.Losses[l].Object.Ref)
		all = append(all, ref)
		if d.picked[l] {
			asked = append(asked, ref)
		}
	}
	if len(asked) > 0 {
		return sorted(asked)
	}
	return sorted(all)
}

var policyNames = map[history.Policy]string{history.Background: "Background", history.Foreground: "Foreground", history.Orphan: "Orphan"}

func stateOf(l *history.Loss) report.LossState {
	switch {
	case l.Orphaned:
		return report.LossOrphaned
	case l.Gone == 0:
		return report.LossBeingDeleted
	default:
		return report.LossDeleted
	}
}

func causeOf(c history.Cause) report.LossCause {
	out := report.LossCause{Code: string(c.Code), Request: c.Request + 1}
	if c.By != (object.Ref{}) {
		by := report.RefOf(c.By)
		out.By = &by
	}
	return out
}

func momentOf(m history.Moment) report.Moment {
	out := report.Moment{Revision: int64(m.Revision)}
	if m.Time != 0 {
		out.Time = time.Unix(m.Time, 0).UTC().Format(time.RFC3339)
	}
	return out
}

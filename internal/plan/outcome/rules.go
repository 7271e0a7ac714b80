package outcome

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// rule is one case of a judgement. Of a list of rules, the first that holds decides.
type rule struct {
	name  string
	holds func(*Judge, *Track) bool
	// judge sets the result, its reason and its certainty. nil: a plan does not show the object.
	judge func(*Judge, *Outcome)
	// why is a case in which the next rule holds, too, and is wrong. It is empty if the two rules
	// exclude each other, so that their order is arbitrary.
	why string
}

// decide applies the first rule that holds, and reports whether a plan shows the object.
func (j *Judge) decide(rules []rule, out *Outcome) bool {
	for i := range rules {
		if r := &rules[i]; r.holds(j, out.Track) {
			if r.judge != nil {
				r.judge(j, out)
			}
			return r.judge != nil
		}
	}
	return false
}

// otherwise is the condition of the last rule.
func otherwise(*Judge, *Track) bool { return true }

// trackedRules judge an object by what happened to it.
var trackedRules = []rule{
	{"gone", // delete deploy/web → rs/web-1
		func(_ *Judge, tr *Track) bool { return tr.Last == nil }, (*Judge).judgeDeleted, ""},
	{"being deleted", // delete deploy/web → pod/web-1-a stays because of its finalizer
		func(_ *Judge, tr *Track) bool { return tr.Last != nil && tr.Last.BeingDeleted() }, (*Judge).judgeBlocked,
		"remove-finalizers pod/web-1-a is refused: the plan lists all that holds the pod, and not only the refusal"},
	{"refused", // delete deploy/web is denied by a policy
		func(_ *Judge, tr *Track) bool { return tr.Refused != nil }, (*Judge).judgeRefused,
		"remove-finalizers pvc/data is denied, so no finalizer was removed"},
	{"finalizer removed", // remove-finalizers pvc/data, which is not being deleted
		func(j *Judge, tr *Track) bool { return j.Takes && tr.Target }, (*Judge).judgeTaken,
		"remove-finalizers pvc/data pv/disk: pvc/data goes and releases pv/disk, but the request names pv/disk itself"},
	{"volume released", // delete pvc/data → pv/disk stays
		func(_ *Judge, tr *Track) bool { return VolumeReleased(tr) }, (*Judge).judgeReleased,
		"pv/disk has changed, but not its owner references"},
	{"changed", // delete deploy/web --cascade=orphan → rs/web-1 loses its owner reference
		func(_ *Judge, tr *Track) bool { return tr.Changed != 0 }, (*Judge).judgeChanged,
		"cm/a lost a reference to an absent owner before the request, and was not considered since"},
	{"nothing new", // cm/shared was considered again after the request, with the same result as before
		func(j *Judge, tr *Track) bool {
			return !tr.Decision.Phase.bySeed() || j.asBefore(tr) || j.Causes.Besides(tr)
		}, nil, "the collector has considered cm/shared, but not because of the request"},
	{"considered", // delete deploy/web → cm/shared stays because deploy/api owns it, too
		otherwise, (*Judge).judgeConsidered, ""},
}

// deletedRules say why an object is gone.
var deletedRules = []rule{
	{"gone before the request", // delete cm/a, which is garbage: the request gets a 404
		func(_ *Judge, tr *Track) bool { return tr.Refused != nil && !tr.Changed.bySeed() },
		func(_ *Judge, out *Outcome) { out.Reason, out.Anyway = string(reason.Requested), true },
		"remove-finalizers cm/a gets a 404, so the request removed no finalizer"},
	{"finalizer removed", // remove-finalizers pod/web-1-a, which was being deleted
		func(j *Judge, tr *Track) bool { return j.Takes && tr.Target }, (*Judge).judgeTaken,
		"remove-finalizers does not request the deletion of its targets"},
	{"requested", // delete deploy/web: deploy/web itself
		func(_ *Judge, tr *Track) bool { return tr.Target && tr.Refused == nil },
		func(_ *Judge, out *Outcome) { out.Reason = string(reason.Requested) },
		"delete deploy/web rs/web-1: the collector deletes rs/web-1, too"},
	{"collected", // delete deploy/web → rs/web-1
		func(_ *Judge, tr *Track) bool { return tr.removal().Reason != "" },
		func(j *Judge, out *Outcome) {
			d := out.Track.removal()
			out.Reason, out.Because = d.Reason.String(), j.goneOwners(d)
		},
		"rs/web-1 was being deleted, but deploy/web is why the collector deletes it"},
	{"finished", // rs/web-1 was being deleted in the foreground, and its last pod went
		func(_ *Judge, tr *Track) bool { return tr.First.BeingDeleted() },
		func(_ *Judge, out *Outcome) {
			out.Reason = string(cmp.Or(out.Track.Decision.Reason, reason.BeingDeleted))
			if by := out.Track.FreedBy; len(by) > 0 { // ns/old waited for apiservice/v1beta1.metrics.k8s.io
				out.Reason, out.Because = string(reason.Unobstructed), by
			}
		},
		"secret/token was being deleted before sa/web was"},
	{"token revoked", // delete sa/web → secret/token
		func(j *Judge, tr *Track) bool { return j.revokedWith(tr) != nil },
		func(j *Judge, out *Outcome) {
			out.Reason, out.Because = string(reason.AccountGone), j.revokedWith(out.Track)
		}, ""},
	{"undeployed", // delete application/web → deploy/web, which it lists
		func(j *Judge, tr *Track) bool { return j.Tracks.Deployer(tr.First) != nil },
		func(j *Judge, out *Outcome) {
			from := j.Tracks.Deployer(out.Track.First)
			out.Reason, out.Because = string(reason.Undeployed), []object.Ref{from.Ref}
			if assumed := finalizer.DeployerAssumption(j.Snap, from); assumed != "" {
				out.Assumptions = append(out.Assumptions, assumed)
			}
		},
		"application/web lists pv/disk: it goes whatever becomes of pvc/data"},
	{"volume reclaimed", // delete pvc/data → pv/disk
		func(_ *Judge, tr *Track) bool { return tr.reclaimed },
		func(_ *Judge, out *Outcome) {
			out.Reason, out.Because = string(reason.VolumeReclaimed), ClaimOf(out.Track.First)
		},
		"a controller deletes pv/disk, but pvc/data is why"},
	{"deleted by a controller", // delete ns/shop → cm/a
		otherwise,
		func(j *Judge, out *Outcome) {
			out.Reason, out.Because = string(reason.DeletedByController), j.containers(out.Track.First)
		}, ""},
}

// changedRules judge an object that survives with other owner references.
var changedRules = []rule{
	{"undecided", // delete deploy/web --cascade=orphan → cm/a, whose other owner can't be looked up, is considered once more
		func(_ *Judge, tr *Track) bool {
			return tr.Decision.undecided() && tr.Decision.live != nil && slices.Equal(tr.Decision.live.Owners, tr.Last.Owners)
		}, (*Judge).judgeConsidered,
		"the collector has considered cm/a with these owners: its own result counts"},
	{"undecided after orphaning", // the same, but the collector has not considered cm/a since
		func(j *Judge, tr *Track) bool { return j.openSinceOrphaned(tr) != nil },
		func(j *Judge, out *Outcome) {
			open := j.openSinceOrphaned(out.Track)
			out.Result, out.Reason, out.Because, out.Detail = open.Result, open.Reason, open.Because, open.Detail
		},
		"cm/a is no longer owned by deploy/web, but its other owner may be absent"},
	{"orphaned", // delete deploy/web --cascade=orphan → rs/web-1
		func(_ *Judge, tr *Track) bool { return tr.orphanedBy != nil && tr.lost(tr.orphanedBy.UID) }, (*Judge).judgeOrphaned,
		"deploy/web existed when rs/web-1 lost the reference to it"},
	{"pruned", // delete deploy/web → cm/shared loses its reference, and stays because deploy/api owns it, too
		func(_ *Judge, tr *Track) bool {
			return slices.ContainsFunc(tr.First.Owners, func(ref object.OwnerReference) bool { return tr.lost(ref.UID) })
		},
		func(j *Judge, out *Outcome) {
			j.judgeKept(out)
			out.Result, out.Reason = report.Pruned, reason.DanglingReferences.String()
		},
		"deploy/api keeps cm/shared, but the plan has to show the lost reference"},
	{"references unchanged", // a controller removed a finalizer of pod/web-1-a
		otherwise, (*Judge).judgeKept, ""},
}

// consideredRules judge an object that the collector considered and left as it was.
var consideredRules = []rule{
	{"withheld", // collect leaves cm/a because its outcome is unknown
		func(j *Judge, tr *Track) bool { return j.Kept[tr.First.Ref] != "" }, (*Judge).judgeWithheld,
		"the write that was refused is no longer sent"},
	{"refused by admission", // a webhook does not answer, so rs/web-1 is not deleted
		func(j *Judge, tr *Track) bool { _, is := j.Health.Refused[tr.First.Ref]; return is }, (*Judge).judgeUnadmitted,
		"the webhook is the reason for the error of the server"},
	{"refused", // the server answers the deletion of rs/web-1 with an error
		func(j *Judge, tr *Track) bool { return j.Refused[tr.First.Ref] != nil },
		func(j *Judge, out *Outcome) {
			out.Result, out.Reason, out.Because = report.Kept, string(reason.RequestRefused), j.goneOwners(out.Track.Decision)
			out.Detail = j.Refused[out.Track.First.Ref].Error()
		},
		"the error is certain, even if nothing is known about an owner"},
	{"undecided", // the StatefulSet that owns pod/db-0 was not listed
		func(j *Judge, tr *Track) bool { return tr.Decision.undecided() && !j.keptForever(tr.Decision) }, (*Judge).judgeUndecided,
		"svc/db owns pod/db-0, too, but the collector decides nothing"},
	{"kept by another owner", // nothing is known about an owner of cm/a, but deploy/api owns it, too
		func(j *Judge, tr *Track) bool {
			return tr.Decision.Unresolved() != nil && !tr.Decision.solid.Empty() && !j.keptForever(tr.Decision)
		},
		func(j *Judge, out *Outcome) {
			j.judgeKept(out)
			out.Assumptions = append(out.Assumptions, "the reference to "+out.Track.Decision.Unresolved().Ref.ShortName()+", about which nothing is known, stays")
		},
		"deploy/api keeps cm/a, and not the unknown owner"},
	{"kept by an unknown owner", // the kind of an owner of cm/a is not served
		func(_ *Judge, tr *Track) bool { return tr.Decision.Unresolved() != nil },
		func(j *Judge, out *Outcome) {
			j.judgeKept(out)
			out.Because = []object.Ref{out.Track.Decision.Unresolved().Ref}
		},
		"the unknown owner keeps cm/a, even if deploy/api exists"},
	{"kept", // delete deploy/web → cm/shared stays because deploy/api owns it, too
		otherwise, (*Judge).judgeKept, ""},
}

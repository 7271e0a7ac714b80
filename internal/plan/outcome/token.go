package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// accountOf is the ServiceAccount whose token an object is or may be; without a uid if
// neither the token nor the snapshot has one.
func (j *Judge) accountOf(o *object.Object) (ref object.Ref, ok bool) {
	t := o.Token()
	if t == nil {
		return ref, false
	}
	if account := j.Snap.FindKind(object.ServiceAccount, o.Namespace, t.Account); account != nil && t.Of(account.Name, account.UID) {
		return account.Ref, true
	}
	account := object.ServiceAccount.Ref(o.Namespace, t.Account)
	account.UID = t.AccountUID
	return account, true
}

// judgeRevoked is a token that its controller has deleted.
func (j *Judge) judgeRevoked(out *Outcome) bool {
	account, ok := j.accountOf(out.Track.First)
	if !ok || j.Words.Text(out.Track.RemovedBy) != controllers.TokensName {
		return false
	}
	out.Reason, out.Because = string(reason.AccountGone), []object.Ref{account}
	return true
}

// addTokens adds the Secrets of which it is not known whether they go with a
// ServiceAccount: because that is not known of the account, or because the Secret may be
// no token. Of an account that goes it says so if its tokens may not have been seen.
func (j *Judge) addTokens(all *Outcomes) (added []*Outcome) {
	for _, o := range j.Server.ObjectsOf(object.Secret.GroupResource(), "") {
		account, ok := j.accountOf(o)
		if !ok || o.BeingDeleted() {
			continue
		}
		of, out := j.Of(all, account), j.OfObject(all, o)
		if of == nil || of.Result != report.Unknown && (of.Result != report.Deleted || o.Token().Sure) {
			continue
		}
		if out == nil {
			out = &Outcome{Track: &Track{First: o, Last: o}, AlreadyHappening: of.AlreadyHappening}
			j.set(all, o, out)
		}
		if out.Result == report.Unknown || out.Track.Target {
			continue
		}
		out.MarkUnknown(reason.TokenUnknown)
		out.Because, out.Detail = []object.Ref{account}, "whether that goes is not known"
		if of.Result == report.Deleted {
			w, _ := j.waits(o.Ref)
			out.Detail = w.detail
		}
		added = append(added, out)
	}
	for _, out := range all.All() {
		if j.tokensNotSeen(out) {
			out.Detail = "whether tokens of it go, too, is not known"
		}
	}
	return added
}

// tokensNotSeen reports whether something is a ServiceAccount that goes, and tokens of it
// may be there that the snapshot lacks; where its namespace goes, they go with that.
func (j *Judge) tokensNotSeen(out *Outcome) bool {
	o := out.Track.First
	return out.Result == report.Deleted && o.Is(object.ServiceAccount) && !j.Snap.Covers(object.Secret.Resource(), o.Namespace) && len(j.containers(o)) == 0
}

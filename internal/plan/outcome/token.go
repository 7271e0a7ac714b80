package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// accountOf returns the ServiceAccount of a Secret that is or may be its token. The reference has no
// uid if neither the token nor the snapshot has it.
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

// judgeRevoked sets the reason of a token that the tokens controller deleted. It returns false for
// other objects.
func (j *Judge) judgeRevoked(out *Outcome) bool {
	account, ok := j.accountOf(out.Track.First)
	if !ok || j.Words.Text(out.Track.RemovedBy) != controllers.TokensName {
		return false
	}
	out.Reason, out.Because = string(reason.AccountGone), []object.Ref{account}
	return true
}

// addTokens adds the Secrets that may be deleted with a ServiceAccount: the outcome of the account is
// unknown, or the Secret may not be a token. A deleted account gets a detail if the snapshot may lack
// some of its tokens.
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

// tokensNotSeen reports whether out is a deleted ServiceAccount with tokens that the snapshot may
// lack. If its namespace goes, the tokens go with that.
func (j *Judge) tokensNotSeen(out *Outcome) bool {
	o := out.Track.First
	return out.Result == report.Deleted && o.Is(object.ServiceAccount) && !j.Snap.Covers(object.Secret.Resource(), o.Namespace) && len(j.containers(o)) == 0
}

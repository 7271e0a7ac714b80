package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// accountOf is the ServiceAccount whose token an object is or may be; without a uid if
// neither the token nor the snapshot has one.
func (s *simulation) accountOf(o *object.Object) (ref object.Ref, ok bool) {
	t := o.Token()
	if t == nil {
		return ref, false
	}
	if account := s.snap.FindKind(object.ServiceAccount, o.Namespace, t.Account); account != nil && t.Of(account.Name, account.UID) {
		return account.Ref, true
	}
	account := object.ServiceAccount.Ref(o.Namespace, t.Account)
	account.UID = t.AccountUID
	return account, true
}

// revokedFate is a token that its controller has deleted.
func (s *simulation) revokedFate(f *fate) bool {
	account, ok := s.accountOf(f.track.first)
	if !ok || s.recorder.text(f.track.removedBy) != controllers.TokensName {
		return false
	}
	f.reason, f.because = string(AccountGone), []object.Ref{account}
	return true
}

// addTokens adds the Secrets of which it is not known whether they go with a
// ServiceAccount: because that is not known of the account, or because the Secret may be
// no token. Of an account that goes it says so if its tokens may not have been seen.
func (s *simulation) addTokens(all fates) (added []*fate) {
	for _, o := range s.recorder.ObjectsOf(object.Secret.GroupResource(), "") {
		account, ok := s.accountOf(o)
		if !ok || o.BeingDeleted() {
			continue
		}
		of, f := s.fateIn(all, account), s.fateIn(all, o.Ref)
		if of == nil || of.outcome != report.Unknown && (of.outcome != report.Deleted || o.Token().Sure) {
			continue
		}
		if f == nil {
			f = &fate{track: &track{first: o, last: o}, baseline: of.baseline}
			all[s.tracks.key(o.Ref)] = f
		}
		if f.outcome == report.Unknown || f.track.target {
			continue
		}
		f.doubt(TokenUnknown)
		f.because, f.detail = []object.Ref{account}, "whether that goes is not known"
		if of.outcome == report.Deleted {
			w, _ := s.rest.waits(o.Ref)
			f.detail = w.detail
		}
		added = append(added, f)
	}
	for _, f := range all {
		if s.tokensNotSeen(f) {
			f.detail = "whether tokens of it go, too, is not known"
		}
	}
	return added
}

// tokensNotSeen tells whether something is a ServiceAccount that goes, and tokens of it
// may be there that the snapshot lacks; where its namespace goes, they go with that.
func (s *simulation) tokensNotSeen(f *fate) bool {
	o := f.track.first
	return f.outcome == report.Deleted && o.Is(object.ServiceAccount) && !s.snap.Covers(object.Secret.Resource(), o.Namespace) && len(s.containers(o)) == 0
}

package history

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// With returns the indexes of the chosen losses and of all that they caused, directly or not, in
// the order of the account.
func (a *Account) With(chosen func(*Loss) bool) []int {
	taken := make(map[object.Ref]bool, len(a.Losses))
	in := make([]bool, len(a.Losses))
	for more := true; more; { // a consequence may have begun before its cause
		more = false
		for i := range a.Losses {
			l := &a.Losses[i]
			if in[i] || !chosen(l) && !taken[l.Cause.By] {
				continue
			}
			in[i], more = true, true
			taken[l.Object.Ref] = true
		}
	}
	var with []int
	for i := range in {
		if in[i] {
			with = append(with, i)
		}
	}
	return with
}

// Began returns the revision of the request that caused a loss. If no request did, it returns the
// revision where its own deletion began.
func (a *Account) Began(l *Loss) uint64 {
	if r := l.Cause.Request; r >= 0 && r < len(a.Requests) {
		return min(l.Asked, a.Requests[r].At.Revision)
	}
	return l.Asked
}

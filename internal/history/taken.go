package history

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// With are the indexes of the losses that are chosen and of all that went with them, as their
// causes say, in the order of the account.
func (a *Account) With(chosen func(*Loss) bool) []int {
	taken := make(map[object.Ref]bool, len(a.Losses))
	in := make([]bool, len(a.Losses))
	for more := true; more; { // what went with something may have begun before it
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

// Began is the revision of the request that took a loss, or that at which its own deletion
// began where no request did.
func (a *Account) Began(l *Loss) uint64 {
	if r := l.Cause.Request; r >= 0 && r < len(a.Requests) {
		return min(l.Asked, a.Requests[r].At.Revision)
	}
	return l.Asked
}

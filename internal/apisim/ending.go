package apisim

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// draft is the Lifecycle that a delete is about to give an object, with the grace period that it
// points to. There is one at a time.
type draft struct {
	object.Lifecycle
	grace int64
}

// of has a (cloned) object show the draft, which begins as its own Lifecycle, and returns that for
// writing.
func (d *draft) of(o *object.Object) *object.Lifecycle {
	d.Lifecycle = object.Lifecycle{}
	if o.Lifecycle != nil {
		d.Lifecycle = *o.Lifecycle
	}
	o.Lifecycle = &d.Lifecycle
	return o.Lifecycle
}

// seconds is a grace period in the draft.
func (d *draft) seconds(n int64) *int64 {
	d.grace = n
	return &d.grace
}

// ending is what becomes of the objects with one Lifecycle that are given the same time to end.
// Siblings share one, and go on sharing one this way: there may be millions.
type ending struct {
	of        *object.Lifecycle
	at, grace int64
}

// mostEndings is how many of them are remembered; then it begins anew.
const mostEndings = 4096

// keepDraft has an object keep the draft, which is about old.
func (s *Server) keepDraft(old, next *object.Object) {
	d := &s.draft
	this := ending{of: old.Lifecycle, at: d.DeletionTimestamp, grace: d.grace}
	shared := sameList(d.Finalizers, old.Finalizers())
	if shared && s.endings[this] != nil {
		next.Lifecycle = s.endings[this]
		return
	}
	kept := *d
	kept.GracePeriod = &kept.grace
	next.Lifecycle = &kept.Lifecycle
	if !shared {
		return
	}
	if len(s.endings) == mostEndings || s.endings == nil {
		s.endings = map[ending]*object.Lifecycle{}
	}
	s.endings[this] = next.Lifecycle
}

// sameList reports whether two lists are one.
func sameList(a, b []string) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

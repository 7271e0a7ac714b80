package apisim

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// draft is the Lifecycle that a graceful delete builds, with the grace period that it points to. A
// server has one, which each delete reuses.
type draft struct {
	object.Lifecycle
	grace int64
}

// of copies the Lifecycle of o into the draft, points o to the draft and returns it for writing. o
// must be a clone.
func (d *draft) of(o *object.Object) *object.Lifecycle {
	d.Lifecycle = object.Lifecycle{}
	if o.Lifecycle != nil {
		d.Lifecycle = *o.Lifecycle
	}
	o.Lifecycle = &d.Lifecycle
	return o.Lifecycle
}

// seconds stores a grace period in the draft and returns a pointer to it.
func (d *draft) seconds(n int64) *int64 {
	d.grace = n
	return &d.grace
}

// ending identifies the Lifecycle that results if old Lifecycle "of" gets the deletion timestamp
// "at" and the grace period "grace". Millions of siblings share one Lifecycle. They share the
// resulting one, too.
type ending struct {
	of        *object.Lifecycle
	at, grace int64
}

// mostEndings is the size at which the map of endings is cleared.
const mostEndings = 4096

// keepDraft gives next a Lifecycle with the content of the draft: a shared one if old's finalizers
// are unchanged.
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

// sameList reports whether two slices share their elements in memory.
func sameList(a, b []string) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

package controller

import (
	"context"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// latch is where a blown fuse is remembered; false when it is nowhere: without a
// lease there is no object of ours, and an observer has no fuse to blow.
func (s *service) latch() (latch, bool) {
	if s.o.Lease == nil || !s.o.Enforce {
		return latch{}, false
	}
	return latch{leases: s.leases, lease: *s.o.Lease}, true
}

// recall blows the fuse if it was blown before this process began to lead.
func (s *service) recall(ctx context.Context) error {
	l, ok := s.latch()
	if !ok {
		return nil
	}
	why, uid, err := l.read(ctx)
	if err != nil || why == "" {
		return err
	}
	s.gate.fuse.blow(Remembered, why)
	s.o.Log.Error("the fuse was blown before: nothing is written", "why", why, "mend", l.mend())
	s.tellBlown(l, uid, why)
	return nil
}

// watchFuse tells of the fuse when it blows, and writes it where the next process
// looks.
func (s *service) watchFuse(ctx context.Context) {
	if c, _ := s.gate.fuse.state(); c == Remembered {
		return
	}
	select {
	case <-s.gate.fuse.blowing:
	case <-ctx.Done():
		if !s.gate.fuse.isBlown() {
			return
		}
	}
	cause, why := s.gate.fuse.state()
	l, ok := s.latch()
	if !ok {
		s.o.Log.Error("the fuse has blown: nothing is written any more", "cause", string(cause), "why", why,
			"mend", "when you know why, start the controller anew")
		return
	}
	s.o.Log.Error("the fuse has blown: nothing is written any more", "cause", string(cause), "why", why, "mend", l.mend())
	text := time.Now().UTC().Format(time.RFC3339) + " " + string(cause) + ": " + why
	uid := l.write(ctx, text, func(err error) {
		s.o.Log.Error("the lease does not say yet that the fuse has blown: it is tried again", "error", err)
	})
	s.tellBlown(l, uid, text)
}

// tellBlown is an event on the lease.
func (s *service) tellBlown(l latch, uid types.UID, why string) {
	s.events.recorder.Event(about(object.Ref{
		APIVersion: coordination.SchemeGroupVersion.String(), Kind: "Lease", Namespace: l.lease.Namespace, Name: l.lease.Name, UID: uid,
	}), corev1.EventTypeWarning, FuseBlown, why+". Nothing is written; "+l.mend())
}

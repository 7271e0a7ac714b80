package controller

import (
	"context"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// tripRecord returns where a tripped limit is remembered. It returns false without a lease, because
// there is no other object to write to, and for an observer, which never trips a limit.
func (s *service) tripRecord() (tripRecord, bool) {
	if s.o.Lease == nil || !s.o.Enforce {
		return tripRecord{}, false
	}
	return tripRecord{leases: s.leases, lease: *s.o.Lease}, true
}

// recall trips the limit if it was tripped before this process became the leader.
func (s *service) recall(ctx context.Context) error {
	l, ok := s.tripRecord()
	if !ok {
		return nil
	}
	why, uid, err := l.read(ctx)
	if err != nil || why == "" {
		return err
	}
	s.gate.breaker.trip(remembered, why)
	s.o.Log.Error("the safety limit had tripped before: nothing is written", "why", why, "reset", l.reset())
	s.tellTripped(l, uid, why)
	return nil
}

// watchLimit waits until the limit trips, reports it, and writes it to the lease for the next
// process.
func (s *service) watchLimit(ctx context.Context) {
	if c, _ := s.gate.breaker.state(); c == remembered {
		return
	}
	select {
	case <-s.gate.breaker.tripped:
	case <-ctx.Done():
		if !s.gate.breaker.isTripped() {
			return
		}
	}
	cause, why := s.gate.breaker.state()
	l, ok := s.tripRecord()
	if !ok {
		s.o.Log.Error("the safety limit has tripped: nothing is written any more", "cause", string(cause), "why", why,
			"reset", "when you know why, start the controller anew")
		return
	}
	s.o.Log.Error("the safety limit has tripped: nothing is written any more", "cause", string(cause), "why", why, "reset", l.reset())
	text := time.Now().UTC().Format(time.RFC3339) + " " + string(cause) + ": " + why
	uid := l.write(ctx, text, func(err error) {
		s.o.Log.Error("the lease does not say yet that the safety limit has tripped: it is tried again", "error", err)
	})
	s.tellTripped(l, uid, text)
}

// tellTripped sends an event about the lease.
func (s *service) tellTripped(l tripRecord, uid types.UID, why string) {
	s.events.recorder.Event(about(object.Ref{
		APIVersion: coordination.SchemeGroupVersion.String(), Kind: "Lease", Namespace: l.lease.Namespace, Name: l.lease.Name, UID: uid,
	}), corev1.EventTypeWarning, string(reason.SafetyLimitTripped), why+". Nothing is written; "+l.reset())
}

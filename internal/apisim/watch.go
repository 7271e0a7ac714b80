package apisim

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Warning is a warning header of an answer.
type Warning struct {
	Ref  object.Ref
	Text string
}

// fewEvents is how many events a list has room for that is used again: those of a few requests.
const fewEvents = 64

// Events hands over what happened since the last call, in order, and forgets
// it. Objects are shown in the preferred version of their resource. A Deleted
// event carries the last stored content with the resourceVersion of the
// deletion. The list holds until the next call, after which it may be written over.
// (spec §2.1)
func (s *Server) Events() []object.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events, s.handed = s.handed[:0], nil
	if cap(events) <= fewEvents {
		s.handed = events
	}
	return events
}

// Warnings hands over the warnings since the last call and forgets them.
func (s *Server) Warnings() []Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	warnings := s.warnings
	s.warnings = nil
	return warnings
}

func (s *Server) warn(ref object.Ref, text string) {
	s.warnings = append(s.warnings, Warning{Ref: ref, Text: text})
}

// save stores next in the place of old, which is nil for a new object, and
// returns what is stored now. A write that changes nothing is no write: no new
// resourceVersion, no event. (spec §2.1, S263)
func (s *Server) save(v *view, old, next *object.Object) *object.Object {
	event := object.Event{Type: object.Added, Object: next}
	if old != nil {
		if object.Equal(old, next) {
			return old
		}
		event.Type, event.Old = object.Modified, old
	}
	next.ResourceVersion = s.nextRevision()
	s.put(v.shelf, v.placeOf(next.Namespace), 0, next)
	s.writes++
	s.events = append(s.events, event)
	return next
}

// remove takes an object out of storage.
func (s *Server) remove(v *view, old *object.Object) {
	last := old.Clone()
	last.ResourceVersion = s.nextRevision()
	s.drop(v.shelf, v.placeOf(old.Namespace), old.Name)
	s.writes++
	s.events = append(s.events, object.Event{Type: object.Deleted, Object: last})
}

// admit asks the admission for a verdict on a request about a stored object.
func (s *Server) admit(verb object.Verbs, o *object.Object) error {
	if s.admission == nil {
		return nil
	}
	return s.admission(verb, o.Ref)
}

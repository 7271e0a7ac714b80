package apisim

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Warning is a warning header of a response.
type Warning struct {
	Ref  object.Ref
	Text string
}

// fewEvents is the largest capacity of an event list that is reused: enough for a few requests.
const fewEvents = 64

// Events returns and clears the events since the last call, in order. Objects are in the preferred
// version of their resource. A Deleted event has the last stored content with the resourceVersion
// of the deletion. The next call may overwrite the list. (spec §2.1)
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

// Warnings returns and clears the warnings since the last call.
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

// save replaces old, which is nil for a new object, with next and returns the stored object. A
// write without a change has no effect: no new resourceVersion, no event. (spec §2.1, S263)
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

// remove deletes an object from storage and records the event.
func (s *Server) remove(v *view, old *object.Object) {
	last := old.Clone()
	last.ResourceVersion = s.nextRevision()
	s.drop(v.shelf, v.placeOf(old.Namespace), old.Name)
	s.writes++
	s.events = append(s.events, object.Event{Type: object.Deleted, Object: last})
}

// admit calls the admission, if any, for a request about a stored object.
func (s *Server) admit(verb object.Verbs, o *object.Object) error {
	if s.admission == nil {
		return nil
	}
	return s.admission(verb, o.Ref)
}

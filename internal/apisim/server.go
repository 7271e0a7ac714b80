package apisim

import (
	"maps"
	"math"
	"strconv"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// epoch is the initial logical clock unless WithClock sets it: 2030-01-01T00:00:00Z. An object with
// a later timestamp moves it forward.
const epoch int64 = 1893456000

// Coverage says which objects the snapshot behind the server contains.
type Coverage interface {
	// Covers reports whether an existing object of the resource in the namespace would be in the
	// snapshot. The namespace is empty for cluster-scoped resources.
	Covers(r object.Resource, namespace string) bool
	// Why returns the reason of a gap, for people.
	Why(r object.Resource, namespace string) string
}

// Admission returns an error to refuse a request that would otherwise succeed. ref is the object in
// its stored version.
type Admission func(verb object.Verbs, ref object.Ref) error

// Server is an in-memory API server. Its methods may be called concurrently.
type Server struct {
	mu        sync.Mutex
	resources *object.Resources
	coverage  Coverage
	admission Admission
	collects  bool // the flag --enable-garbage-collector
	givenUIDs bool
	rules     release.Rules

	store
	views    map[kindKey]*view
	recent   viewed
	draft    draft
	endings  map[ending]*object.Lifecycle
	now      int64
	revision uint64
	uids     uint64
	writes   uint64
	events   []object.Event
	handed   []object.Event // by the last call of Events
	warnings []Warning
}

// Option changes how a server behaves.
type Option func(*Server)

// WithCoverage makes a missing object an *object.UncoveredError where c doesn't cover it. Without
// this option, a missing object doesn't exist.
func WithCoverage(c Coverage) Option { return func(s *Server) { s.coverage = c } }

// WithClock sets the logical clock to a time in seconds since 1970.
func WithClock(seconds int64) Option { return func(s *Server) { s.now = seconds } }

// WithAdmission calls a before every request that changes something.
func WithAdmission(a Admission) Option { return func(s *Server) { s.admission = a } }

// WithoutGarbageCollection is the server flag --enable-garbage-collector=false: a delete neither
// adds nor removes the collector's finalizers.
func WithoutGarbageCollection() Option { return func(s *Server) { s.collects = false } }

// WithRules selects the behaviour of an older release than the newest.
func WithRules(r release.Rules) Option { return func(s *Server) { s.rules = r } }

// WithGivenUIDs lets a created object keep its UID. A real server always generates one.
func WithGivenUIDs() Option { return func(s *Server) { s.givenUIDs = true } }

// New returns a server with the given objects. If two have the same resource, namespace and name,
// the later one is stored. An object of an unknown kind is listed, but requests for it fail.
func New(objects []*object.Object, resources *object.Resources, opts ...Option) *Server {
	s := &Server{
		resources: resources,
		collects:  true,
		views:     map[kindKey]*view{},
		now:       epoch,
		store:     newStore(),
	}
	s.Follow(objects)
	s.load(objects)
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Follow moves the clock and the revision past those of the given objects, which need not be
// stored. It takes no lock: call it before the server is shared.
func (s *Server) Follow(objects []*object.Object) {
	for _, o := range objects {
		s.revision = max(s.revision, revisionOf(o))
		s.now = max(s.now, o.Created+1, o.DeletionTimestamp()+1)
	}
}

// revisionOf returns the resourceVersion as a number, 0 if it is not a number. Numbers above
// MaxInt64 give 0, too, because the counter could overflow.
func revisionOf(o *object.Object) uint64 {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil || n > math.MaxInt64 {
		return 0
	}
	return n
}

// load stores the objects. It counts them first, so that the buckets are allocated in their final
// size.
func (s *Server) load(objects []*object.Object) {
	type place struct {
		shelf     int
		namespace string
	}
	counts := map[place]int{}
	for pass := range 2 {
		for _, o := range objects {
			v := s.viewOf(o.APIVersion, o.Kind)
			at := place{v.shelf, v.placeOf(o.Namespace)}
			if pass == 0 {
				counts[at]++
				continue
			}
			if v.known && o.APIVersion != v.stored {
				o = o.Clone()
				o.APIVersion = v.stored
			}
			s.store.put(at.shelf, at.namespace, counts[at], o)
		}
	}
}

// Clone returns an independent server with the same objects, clock, counters and undelivered
// events. It is cheap: both share their objects until one of them writes.
func (s *Server) Clone() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Server{
		resources: s.resources, coverage: s.coverage, admission: s.admission,
		collects: s.collects, givenUIDs: s.givenUIDs,
		store: s.store.share(), views: maps.Clone(s.views),
		now: s.now, revision: s.revision, uids: s.uids, writes: s.writes,
		events: append([]object.Event(nil), s.events...), warnings: append([]Warning(nil), s.warnings...),
	}
}

// Advance moves the logical clock forward.
func (s *Server) Advance(seconds int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += max(seconds, 0)
}

// Now returns the logical clock in seconds since 1970.
func (s *Server) Now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Writes returns the number of stored changes. A write without a change doesn't count.
func (s *Server) Writes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *Server) nextRevision() string {
	s.revision++
	return strconv.FormatUint(s.revision, 10)
}

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

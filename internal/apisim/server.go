package apisim

import (
	"math"
	"strconv"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// epoch is where the logical clock of a server stands unless WithClock says
// otherwise: 2030-01-01T00:00:00Z. The clock starts later when an object of the
// world carries a later timestamp.
const epoch int64 = 1893456000

// Coverage says what the snapshot behind the world contains.
type Coverage interface {
	// Covers reports whether an object of the resource in the namespace would be
	// in the world if it existed. The namespace is empty for cluster-scoped
	// resources.
	Covers(r object.Resource, namespace string) bool
	// Why is the reason of a gap, for people.
	Why(r object.Resource, namespace string) string
}

// Admission may refuse a request that would otherwise succeed. It sees the verb
// and the object that the request is about, in its stored version.
type Admission func(verb object.Verbs, ref object.Ref) error

// Server is an API server in memory. All its methods may be called from many
// goroutines.
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

// WithCoverage makes absence an open question wherever c does not cover the
// place. Without it the world is complete.
func WithCoverage(c Coverage) Option { return func(s *Server) { s.coverage = c } }

// WithClock sets the logical clock to a time in seconds since 1970.
func WithClock(seconds int64) Option { return func(s *Server) { s.now = seconds } }

// WithAdmission has every request that changes something pass a before it is
// carried out.
func WithAdmission(a Admission) Option { return func(s *Server) { s.admission = a } }

// WithoutGarbageCollection is the server flag --enable-garbage-collector=false:
// a delete neither adds nor removes the collector's finalizers.
func WithoutGarbageCollection() Option { return func(s *Server) { s.collects = false } }

// WithRules makes a server of another release than the newest.
func WithRules(r release.Rules) Option { return func(s *Server) { s.rules = r } }

// WithGivenUIDs lets a created object keep the UID that it brings along. A real
// server always makes up a new one.
func WithGivenUIDs() Option { return func(s *Server) { s.givenUIDs = true } }

// New returns a server that holds the objects. When two of them claim the same
// place in storage, the later one has it. An object whose kind is not among the
// resources is listed, but no request reaches it.
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

// Follow moves clock and revision on behind those of objects that need not be in the world. It is
// for a server that nobody else has got yet.
func (s *Server) Follow(objects []*object.Object) {
	for _, o := range objects {
		s.revision = max(s.revision, revisionOf(o))
		s.now = max(s.now, o.Created+1, o.DeletionTimestamp()+1)
	}
}

// revisionOf reads a resourceVersion as a number; 0 when it is none. Numbers so
// large that the counter could overflow are not taken for revisions.
func revisionOf(o *object.Object) uint64 {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil || n > math.MaxInt64 {
		return 0
	}
	return n
}

// load puts the objects in their places. It counts first, so that large maps
// are made once in their final size.
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

// Clone returns an independent server with the same world, clock, counters and
// undelivered events. It costs little: what the two do not change they share.
func (s *Server) Clone() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Server{
		resources: s.resources, coverage: s.coverage, admission: s.admission,
		collects: s.collects, givenUIDs: s.givenUIDs,
		store: s.store.share(), views: cloneViews(s.views),
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

// Now is the logical clock in seconds since 1970.
func (s *Server) Now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Writes counts the changes that were stored. A write that changes nothing is
// none.
func (s *Server) Writes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *Server) nextRevision() string {
	s.revision++
	return strconv.FormatUint(s.revision, 10)
}

package kept

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// annals are what files say, entry by entry, oldest first.
type annals struct {
	elsewhere []*object.Object // as of history.Past
	intern    *manifest.Interner
	head      *head
	cluster   Cluster
	served    *object.Resources
	kinds     map[kind]*story
	changes   []history.Change
	ticks     []history.Moment
	absent    []object.Ref
	holes     []hole
	bodies    map[place][]bodyAt

	// from and to are between what everything was seen, but for the holes; both are 0 until that
	// is known.
	from, to uint64
	// spanned is where the past that is read just now begins and ends, if it came from a server.
	spanned span
	// lacks says what is not there of the file before.
	lacks string
	// settled says that this run has said how far it has seen everything.
	settled bool
}

// story is what is known of one kind.
type story struct {
	// begin is where it begins; 0 for not at all yet. Whole says that there was a list of all.
	begin uint64
	whole bool
	// first is what was there then, known what is there now.
	first []*object.Object
	known map[types.UID]*object.Object
	// last is the revision of the last change.
	last uint64
	// listing is the list that is being read, run the run of the last one.
	listing map[types.UID]*object.Object
	run     string
	// missed says that changes may have been missed since missedFrom, and why.
	missed     bool
	missedFrom uint64
	why        string
}

// hole is a time in which changes of a kind were not seen.
type hole struct {
	kind        kind
	from, until uint64
	why         string
	// limit is how a server has said it, of a past that begins at from.
	limit *history.Limit
}

func newAnnals() *annals {
	return &annals{intern: manifest.NewInterner(), served: &object.Resources{}, kinds: map[kind]*story{}, bodies: map[place][]bodyAt{}}
}

func (a *annals) of(k kind) *story {
	s := a.kinds[k]
	if s == nil {
		s = &story{known: map[types.UID]*object.Object{}}
		a.kinds[k] = s
	}
	return s
}

// errNoHead is of a file that says nothing of itself before it says something of a cluster.
var errNoHead = errors.New("it does not say whose history it is")

// take takes an entry in.
func (a *annals) take(e *entry, at spot) error {
	if e.Head != nil {
		return a.open(e.Head)
	}
	if a.head == nil {
		return errNoHead
	}
	switch {
	case e.Served != nil:
		a.served = &object.Resources{}
		for _, r := range e.Served {
			a.served.Add(r.Resource())
		}
	case e.Span != nil:
		a.span(*e.Span)
	case e.Limit != nil:
		a.limit(*e.Limit)
	case e.Elsewhere != nil:
		a.elsewhere = append(a.elsewhere, e.Elsewhere.Object(a.intern))
	case e.Stood != nil:
		return a.stood(e.Stood.Object(a.intern))
	case e.Absent != nil:
		a.absent = append(a.absent, object.Ref(*e.Absent))
	case e.Begin != nil:
		a.of(*e.Begin).listing = map[types.UID]*object.Object{}
	case e.Object != nil:
		o := e.Object.Object(a.intern)
		s := a.of(kindOfRef(o.Ref))
		if s.listing == nil || o.UID == "" {
			return fmt.Errorf("%s is in no list", o.Ref)
		}
		s.listing[o.UID] = o
	case e.Listed != nil:
		return a.listed(e.Listed)
	case e.Broken != nil:
		s := a.of(e.Broken.kind)
		s.miss(a.to, e.Broken.Why)
	case e.Settled != 0:
		a.settle(e.Settled)
	case e.Change != nil:
		return a.change(e.Change, at)
	case e.Body != nil:
		return a.body(e.Body, at)
	case e.Tick != nil:
		a.ticks = append(a.ticks, e.Tick.moment())
	}
	return nil
}

// open begins another file.
func (a *annals) open(h *head) error {
	if a.head != nil && a.cluster.UID != h.Cluster.UID {
		return fmt.Errorf("it is of another cluster: namespace kube-system has uid %q here, and %q in the files before", h.Cluster.UID, a.cluster.UID)
	}
	switch {
	case a.head == nil || h.Run == "" || a.head.Run != h.Run:
		a.settled = false // and what was not seen behind a.to is what this run has not seen either
	case a.lacks != "":
		a.cut(a.lacks)
	}
	a.lacks = ""
	a.head, a.cluster = h, h.Cluster
	for _, s := range a.kinds {
		s.listing = nil
	}
	return nil
}

// span is the past of a server.
func (a *annals) span(s span) {
	from, to := s.From.Revision, s.To.Revision
	a.spanned = s
	if a.to == 0 {
		a.from = from
	} else if from > a.to {
		a.cut(notWatched)
	}
	for _, r := range a.served.All() {
		if k := a.of(kindOf(r)); k.begin == 0 {
			k.begin = from
		}
	}
	a.to = max(a.to, to)
}

const notWatched = "nobody has watched"

// limit is a kind of which the server knew less.
func (a *annals) limit(l limit) {
	r := l.Resource.Resource()
	h := hole{
		kind: kindOf(r), from: a.spanned.From.Revision, until: a.spanned.To.Revision,
		limit: &history.Limit{Resource: r, From: l.From.moment(), Listed: l.Listed, Why: l.Why},
	}
	if l.From.Revision > h.from {
		h.until = l.From.Revision
	}
	a.holes = append(a.holes, h)
	a.of(h.kind).miss(h.from, l.Why)
}

func (a *annals) stood(o *object.Object) error {
	if o.UID == "" {
		return fmt.Errorf("%s has no uid", o.Ref)
	}
	s := a.of(kindOfRef(o.Ref))
	if s.known[o.UID] == nil {
		s.first = append(s.first, o)
		s.known[o.UID] = o
	}
	return nil
}

// settle notes how far everything was seen.
func (a *annals) settle(revision uint64) {
	if !a.settled {
		a.settled = true
		if a.to == 0 {
			for _, s := range a.kinds {
				a.from = max(a.from, s.begin)
			}
		}
	}
	a.to = max(a.to, revision, a.from)
}

// cut notes that a piece of the history is not there.
func (a *annals) cut(why string) {
	for _, s := range a.kinds {
		s.miss(a.to, why)
	}
}

// miss notes that changes may be missed from now on.
func (s *story) miss(from uint64, why string) {
	if !s.missed {
		s.missed, s.missedFrom = true, from
	}
	s.why = why
}

// listed is the end of a list: this is what there was then.
func (a *annals) listed(l *listed) error {
	s := a.of(l.kind)
	if s.listing == nil {
		return fmt.Errorf("a list of %s ends which has not begun", l.Kind)
	}
	list := s.listing
	s.listing = nil
	follows := a.head.At != 0 && l.At == a.head.At // it only says again what the segments before say
	switch {
	case s.begin == 0:
		s.begin = l.At
		for _, o := range sortedObjects(list) {
			s.first = append(s.first, o)
			s.known[o.UID] = o
		}
	case follows && s.run == a.head.Run && !s.missed:
		return nil
	case s.missed || s.run == a.head.Run || l.At > a.to:
		a.close(l.kind, s, l.At)
		a.differ(s, list, l.At)
	default:
		a.add(s, list, l.At)
	}
	s.whole, s.missed, s.run, s.why = true, false, a.head.Run, ""
	if !follows { // a change that comes late may be older than a list that was made of others
		s.last = max(s.last, l.At)
	}
	return nil
}

// close notes the hole that a list ends.
func (a *annals) close(k kind, s *story, until uint64) {
	h := hole{kind: k, from: a.to, until: until, why: s.why}
	if s.missed {
		h.from = s.missedFrom
	}
	if h.why == "" {
		h.why = notWatched
		if s.run == a.head.Run {
			h.why = "the watch had expired"
		}
	}
	a.holes = append(a.holes, h)
}

// add takes what no change has shown from a list that is within what was seen.
func (a *annals) add(s *story, list map[types.UID]*object.Object, at uint64) {
	gone := map[types.UID]bool{}
	for i := range a.changes {
		if c := &a.changes[i]; c.Type == object.Deleted && c.Revision > at {
			gone[c.Object.UID] = true
		}
	}
	for _, o := range sortedObjects(list) {
		switch {
		case s.known[o.UID] != nil || gone[o.UID]:
		case s.whole:
			a.unseen(s, object.Added, o, nil, at)
		default:
			s.first = append(s.first, o)
			s.known[o.UID] = o
		}
	}
}

// differ makes changes of what a list shows otherwise than was known.
func (a *annals) differ(s *story, list map[types.UID]*object.Object, at uint64) {
	for _, o := range sortedObjects(s.known) {
		if list[o.UID] == nil {
			a.unseen(s, object.Deleted, o, o, at)
		}
	}
	for _, o := range sortedObjects(list) {
		switch old := s.known[o.UID]; {
		case old == nil && s.whole:
			a.unseen(s, object.Added, o, nil, at)
		case old == nil:
			s.first = append(s.first, o)
			s.known[o.UID] = o
		case !object.Equal(withVersion(old, o.ResourceVersion), o):
			a.unseen(s, object.Modified, o, old, at)
		}
	}
}

func (a *annals) unseen(s *story, t object.EventType, o, old *object.Object, at uint64) {
	a.changes = append(a.changes, history.Change{Revision: at, Type: t, Object: o, Old: old, Unseen: true})
	if t == object.Deleted {
		delete(s.known, o.UID)
	} else {
		s.known[o.UID] = o
	}
}

// change is a write that was seen. One that two files have counts once.
func (a *annals) change(c *change, at spot) error {
	if c.Object == nil || c.Revision == 0 || c.Type > object.Deleted {
		return errors.New("a change says nothing of an object")
	}
	o := c.Object.Object(a.intern)
	if o.UID == "" {
		return fmt.Errorf("%s has no uid", o.Ref)
	}
	s := a.of(kindOfRef(o.Ref))
	if c.Revision <= s.last {
		return nil
	}
	s.last = c.Revision
	var old *object.Object
	switch known := s.known[o.UID]; {
	case c.Old != nil:
		old = c.Old.Object(a.intern)
	case known != nil && c.Before != 0:
		old = withVersion(known, fmt.Sprint(c.Before))
	}
	a.changes = append(a.changes, history.Change{Revision: c.Revision, After: c.After, Unseen: c.Unseen, Type: c.Type, Object: o, Old: old})
	if c.Type == object.Deleted {
		delete(s.known, o.UID)
	} else {
		s.known[o.UID] = o
	}
	if len(c.Body) > 0 && old != nil {
		a.keep(o.Ref, bodyAt{from: c.Before, until: c.Revision, uid: o.UID, spot: at, before: old})
	}
	return nil
}

// withVersion is an object with another resourceVersion.
func withVersion(o *object.Object, version string) *object.Object {
	if o.ResourceVersion == version {
		return o
	}
	o = o.Clone()
	o.ResourceVersion = version
	return o
}

func sortedObjects(m map[types.UID]*object.Object) []*object.Object {
	list := make([]*object.Object, 0, len(m))
	for _, o := range m {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

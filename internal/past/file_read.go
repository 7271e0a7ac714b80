package past

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// IsFile reports whether a file is a history.
func IsFile(path string) (is bool, err error) {
	err = withLines(path, snapshot.Options{}, func(l *snapshot.Lines) error {
		is = l.Begins(magic)
		return nil
	})
	return is, err
}

var errDamaged = errors.New("it is damaged or incomplete")

// OpenFile reads a file of history, within the limits of the options.
func OpenFile(ctx context.Context, path string, o snapshot.Options) (r *File, err error) {
	err = withLines(path, o, func(l *snapshot.Lines) error {
		if r, err = readLines(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return r, err
}

func withLines(path string, o snapshot.Options, read func(*snapshot.Lines) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	l, err := snapshot.ReadLines(f, o)
	if err != nil {
		return err
	}
	defer l.Close()
	return read(l)
}

func readLines(ctx context.Context, l *snapshot.Lines) (*File, error) {
	first, err := nextLine(l)
	if err != nil {
		return nil, err
	}
	var t header
	switch err := json.Unmarshal(first, &t); {
	case err != nil || !bytes.HasPrefix(first, []byte(magic)):
		return nil, errDamaged
	case t.Format != formatVersion:
		return nil, fmt.Errorf("its format version is %d, but this program reads %d", t.Format, formatVersion)
	}
	return readEntries(ctx, t, l)
}

// nextLine returns the next line. Whatever ends the file early is damage, except a limit.
func nextLine(l *snapshot.Lines) ([]byte, error) {
	line, err := l.Next()
	if err != nil && !errors.Is(err, snapshot.ErrLimit) {
		return nil, errDamaged
	}
	return line, err
}

func readEntries(ctx context.Context, t header, l *snapshot.Lines) (*File, error) {
	r := &File{
		Cluster: t.Cluster,
		whole:   Record{From: t.From, To: t.To, Resources: &object.Resources{}},
		bodies:  map[object.Coordinates][]*savedBody{}, writes: map[object.Coordinates][]write{},
	}
	intern := manifest.NewInterner()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := nextLine(l)
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, l.At(err)
		}
		if e.SHA256 != nil {
			if !bytes.Equal(e.SHA256, l.Sum()) || l.Last() != nil {
				return nil, errDamaged
			}
			r.buildIndex()
			return r, nil
		}
		if err := r.addEntry(&e, intern); err != nil {
			return nil, l.At(err)
		}
	}
}

// addEntry adds the content of a line.
func (r *File) addEntry(e *entry, intern *manifest.Interner) error {
	p := &r.whole
	switch {
	case e.Served != nil:
		for _, s := range e.Served {
			p.Resources.Add(s)
		}
	case e.Limit != nil:
		p.Limits = append(p.Limits, *e.Limit)
	case e.Tick != nil:
		r.ticks = append(r.ticks, *e.Tick)
	case e.Stood != nil:
		o := e.Stood.Object(intern)
		if o.UID == "" {
			return fmt.Errorf("%s has no uid", o.Ref)
		}
		p.Unchanged = append(p.Unchanged, o)
	case e.Elsewhere != nil:
		p.ForeignOwners = append(p.ForeignOwners, e.Elsewhere.Object(intern))
	case e.Absent != nil:
		p.Absent = append(p.Absent, object.Ref(*e.Absent))
	case e.Change != nil:
		c, err := e.Change.convert(intern)
		p.Changes = append(p.Changes, c)
		return err
	case e.Body != nil:
		return r.addBody(e.Body)
	}
	return nil
}

// File is the past in a file: a Source.
type File struct {
	// Cluster is the cluster of the history.
	Cluster Cluster
	whole   Record
	ticks   []Moment
	// bodies has the whole objects by coordinates.
	bodies map[object.Coordinates][]*savedBody
	// writes has the creations, changes and deletions by coordinates, in order.
	writes map[object.Coordinates][]write
}

// write is the object at some coordinates from a revision on.
type write struct {
	revision       uint64
	uid            types.UID
	added, deleted bool
}

func (c *change) convert(intern *manifest.Interner) (Change, error) {
	if c.Object == nil || c.Revision == 0 || c.Type > object.Deleted {
		return Change{}, errors.New("a change is incomplete or of an unknown type")
	}
	h := Change{Revision: c.Revision, After: c.After, Unseen: c.Unseen, Type: c.Type, Object: c.Object.Object(intern)}
	if h.Object.UID == "" {
		return h, fmt.Errorf("%s has no uid", h.Object.Ref)
	}
	if c.Old != nil {
		h.Old = c.Old.Object(intern)
	}
	return h, nil
}

// buildIndex completes a record after its last line.
func (r *File) buildIndex() {
	p := &r.whole
	p.Clock = NewClock(r.ticks)
	p.Timeless = len(p.Clock.Ticks()) == 0
	slices.SortStableFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, o := range p.Unchanged {
		at := o.Ref.Coordinates()
		r.writes[at] = append(r.writes[at], write{uid: o.UID})
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		at := c.Object.Ref.Coordinates()
		r.writes[at] = append(r.writes[at], write{c.Revision, c.Object.UID, c.Type == object.Added, c.Type == object.Deleted})
	}
}

// Resources returns the kinds that the cluster served.
func (r *File) Resources() *object.Resources { return r.whole.Resources }

// Past returns the part of the past in a window.
func (r *File) Past(_ context.Context, w Window) (*Record, error) {
	p := r.whole
	switch {
	case w.SinceRevision > p.To.Revision:
		return nil, fmt.Errorf("revision %d is not in the history, which ends at %d", w.SinceRevision, p.To.Revision)
	case w.SinceRevision > p.From.Revision:
		p.From = p.Clock.At(w.SinceRevision)
	case w.Since > 0 && p.To.Time > 0:
		if since := p.Clock.Before(p.To.Time - w.Since); since.Revision > p.From.Revision {
			p.From = since
		}
	}
	first, _ := slices.BinarySearchFunc(p.Changes, p.From.Revision+1, func(c Change, r uint64) int { return cmp.Compare(c.Revision, r) })
	p.Unchanged = unchangedAfter(p.Unchanged, p.Changes[:first])
	p.Limits = limitsSince(&r.whole, p.From)
	p.Changes = nil
	for _, c := range r.whole.Changes[first:] {
		if ns := c.Object.Namespace; len(w.Namespaces) == 0 || ns == "" || slices.Contains(w.Namespaces, ns) {
			p.Changes = append(p.Changes, c)
		}
	}
	return &p, nil
}

// unchangedAfter returns the objects that exist after some changes, sorted.
func unchangedAfter(first []*object.Object, changes []Change) []*object.Object {
	now := make(map[types.UID]*object.Object, len(first))
	for _, o := range first {
		now[o.UID] = o
	}
	for i := range changes {
		if c := &changes[i]; c.Type == object.Deleted {
			delete(now, c.Object.UID)
		} else {
			now[c.Object.UID] = c.Object
		}
	}
	return slices.SortedFunc(maps.Values(now), func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
}

// limitsSince returns the limits of the whole past that affect the time since a moment. A limit
// lasts until the history of its kind begins, or to the end if it begins with the past.
func limitsSince(whole *Record, from Moment) []Limit {
	var list []Limit
	for _, l := range whole.Limits {
		until := whole.To.Revision
		if l.From.Revision > whole.From.Revision {
			until = l.From.Revision
		}
		if until <= from.Revision && until != whole.To.Revision {
			continue
		}
		if l.From.Revision != 0 && l.From.Revision < from.Revision {
			l.From = from
		}
		list = append(list, l)
	}
	return list
}

// addBody adds a whole object.
func (r *File) addBody(b *savedBody) error {
	var o bodyIdentity
	if err := json.Unmarshal(b.Text, &o); err != nil || b.Until == 0 || o.Metadata.UID == "" {
		return errors.Join(errors.New("a whole object has no uid or no end revision"), err)
	}
	b.uid = o.Metadata.UID
	at := object.Coordinates{Group: b.Kind.Group, Kind: b.Kind.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
	r.bodies[at] = append(r.bodies[at], b)
	return nil
}

// bodyIdentity has the fields that identify a whole object.
type bodyIdentity struct {
	Metadata struct {
		Namespace       string    `json:"namespace"`
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
}

var errNoBody = errors.New("its content is not in the history")

// Bodies passes the whole objects of a collection at a revision to take.
func (r *File) Bodies(_ context.Context, c Collection, take func(raw []byte) error) error {
	unread := &UnreadError{}
	for _, at := range r.coordinatesIn(c) {
		uid, there := r.existedAt(at, c.Revision)
		if !there {
			continue
		}
		raw := r.findBody(at, uid, c.Revision)
		if raw == nil {
			ref := object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: at.Namespace, Name: at.Name, UID: uid}
			unread.Objects, unread.Errors = append(unread.Objects, ref), append(unread.Errors, errNoBody)
		} else if err := take(raw); err != nil {
			return err
		}
	}
	if from, to := r.whole.From.Revision, r.whole.To.Revision; c.Revision < from || c.Revision > to {
		return apierrors.NewResourceExpired(fmt.Sprintf("revision %d is not in the history, which holds %d to %d", c.Revision, from, to))
	}
	if len(unread.Objects) > 0 {
		return unread
	}
	return nil
}

// coordinatesIn returns the coordinates in a collection that ever had an object, sorted.
func (r *File) coordinatesIn(c Collection) []object.Coordinates {
	one := object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}.Coordinates()
	if c.Name != "" {
		return []object.Coordinates{one}
	}
	var list []object.Coordinates
	for at := range r.writes {
		if at.Group == one.Group && at.Kind == one.Kind && (c.Namespace == "" || at.Namespace == c.Namespace) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(x, y object.Coordinates) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return list
}

// existedAt returns the UID of the object at some coordinates at a revision, and whether it
// existed.
func (r *File) existedAt(at object.Coordinates, revision uint64) (uid types.UID, there bool) {
	for _, w := range r.writes[at] {
		if w.revision > revision {
			break
		}
		uid, there = w.uid, !w.deleted
	}
	if there {
		return uid, true
	}
	for _, w := range r.writes[at] { // a past from a server may begin with any change
		if w.revision > revision {
			return w.uid, !w.added && uid == ""
		}
	}
	return "", false
}

// findBody returns the whole object at a revision; nil if the file does not have it. The caller
// owns the bytes.
func (r *File) findBody(at object.Coordinates, uid types.UID, revision uint64) []byte {
	for _, b := range r.bodies[at] {
		if b.uid == uid && b.From <= revision && revision < b.Until {
			return bytes.Clone(b.Text)
		}
	}
	return nil
}

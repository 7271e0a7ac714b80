package snapshot

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-json-experiment/json"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
)

// storedKind holds the objects of one kind in an etcd snapshot.
type storedKind struct {
	place   etcd.Place // without namespace and name
	objects []*object.Object
	// sealed is the number of encrypted ones, by the name of the encryption.
	sealed int
	by     string
	// broken is why one of them could not be read, if that is allowed.
	broken string
}

// storage is the content of an etcd snapshot at one revision.
type storage struct {
	kinds    []*storedKind
	services []apiService
	kubelets kubelets
	renewed  int64 // in seconds since 1970
}

// readEtcd reads an etcd snapshot. It must be a file: it is read with random access.
func (r *reader) readEtcd(in *input, file *sized) error {
	var path string
	if file != nil {
		if f, ok := file.ReaderAt.(*os.File); ok {
			path = f.Name()
		}
	}
	if path == "" {
		return fmt.Errorf("%s: an etcd snapshot is read only as a file of its own: unpack it first", in.name)
	}
	if file.size > r.limits.EntryBytes {
		return fmt.Errorf("%s: %w: it has %d bytes", in.name, ErrSize, file.size)
	}
	if err := r.readStorage(in.name, path); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return nil
}

func (r *reader) readStorage(name, path string) error {
	f, err := etcd.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	at := f.Newest
	if r.options.Revision != 0 {
		at, r.revisionRead = r.options.Revision, true
	}
	x, err := f.Index(at, at, r.reserveEarly)
	if err != nil {
		return err
	}
	defer x.Close()
	return r.readIndex(name, x, at)
}

// reserveEarly requests memory before any objects were read.
func (r *reader) reserveEarly(bytes int64) error { return r.reserve(bytes, 0) }

// decoderOptions returns the settings for decoding objects in storage.
func (r *reader) decoderOptions() etcd.DecoderOptions {
	h := etcd.DecoderOptions{Strings: r.intern, Limits: r.limits.reading(r.reserve)}
	if r.options.Raw != nil {
		h.Wants, h.Raw = r.options.Wants, r.raw
	}
	return h
}

// readIndex reads the cluster at a revision.
func (r *reader) readIndex(name string, x *etcd.Index, at int64) error {
	s, decoder, objects := &storage{}, etcd.NewDecoder(r.decoderOptions()), 0
	for _, key := range x.Keys {
		place, ok := etcd.PlaceOf(key)
		if !ok {
			continue
		}
		c, ok := x.At(key, at)
		if !ok {
			continue
		}
		if objects++; objects%(1<<10) == 0 {
			if err := r.reserve(0, objects); err != nil {
				return err
			}
		}
		e, err := x.Read(key, c)
		if err == nil {
			err = r.store(s, name, place, e, decoder)
		}
		if err != nil {
			return err
		}
	}
	snap, err := s.snapshot(name, at)
	if err != nil {
		return err
	}
	r.stored = append(r.stored, snap)
	r.readBack += len(snap.Objects)
	return nil
}

// store adds the value of a key. Keys of one kind are adjacent.
func (r *reader) store(s *storage, name string, place etcd.Place, e etcd.Entry, decoder *etcd.Decoder) error {
	kind := etcd.Place{Group: place.Group, Resource: place.Resource}
	if n := len(s.kinds); n == 0 || s.kinds[n-1].place != kind {
		s.kinds = append(s.kinds, &storedKind{place: kind})
	}
	k := s.kinds[len(s.kinds)-1]
	o, err := objectAt(decoder, place, e)
	if sealed, ok := errors.AsType[etcd.SealedError](err); ok {
		k.sealed++
		k.by = sealed.By
		return nil
	}
	if err == nil {
		err = s.notice(o, e.Value)
	}
	if err == nil {
		k.objects = append(k.objects, o)
		return nil
	}
	err = fmt.Errorf("key %q: %w", e.Key, err)
	if !r.options.AllowPartial || errors.Is(err, ErrLimit) {
		return err
	}
	k.broken = err.Error()
	r.problems = append(r.problems, Problem{Kind: Unread, File: name, Message: name + ": " + k.broken})
	return nil
}

// objectAt returns the object in the value of a key. It must be the one that the key names.
func objectAt(decoder *etcd.Decoder, place etcd.Place, e etcd.Entry) (*object.Object, error) {
	o, err := decoder.Decode(e)
	if err == nil && (o.Name != place.Name || o.Namespace != place.Namespace) {
		err = fmt.Errorf("it holds %s", printable(o.Ref))
	}
	return o, err
}

// notice records what an object shows about the server.
func (s *storage) notice(o *object.Object, value []byte) error {
	switch {
	case o.Is(object.APIService):
		var service apiService
		if err := json.Unmarshal(value, &service); err != nil {
			return err
		}
		s.services = append(s.services, service)
	case o.Is(object.Lease):
		renewed, err := etcd.RenewTime(value)
		s.renewed = max(s.renewed, renewed)
		return err
	case o.Is(object.Node):
		kubelet, err := etcd.KubeletVersion(value)
		s.kubelets.add(kubelet)
		return err
	}
	return nil
}

// snapshot builds the snapshot from everything that was read.
func (s *storage) snapshot(name string, at int64) (*Snapshot, error) {
	var definitions []*object.Object
	readable := true
	for _, k := range s.kinds {
		if k.place.Resource == object.CRD.Resource().Name && k.place.Group == object.CRD.Group {
			definitions = k.objects
			readable = k.sealed == 0 && k.broken == ""
		}
	}
	declared := definitionsOf(definitions)
	served, missing := servedBy(s.services, declared)
	snap := &Snapshot{
		Source:   Source{Files: []string{name}, Revision: at, Discovered: len(s.services) > 0 && readable},
		coverage: &Coverage{},
	}
	if s.renewed > 0 {
		snap.latest = s.renewed
		snap.Source.TakenAt = time.Unix(s.renewed, 0).UTC().Format(time.RFC3339)
	}
	snap.Source.VersionBounds = boundsOf(s.kubelets, localVersions(s.services))
	known := map[schema.GroupResource]bool{}
	for _, d := range declared {
		known[schema.GroupResource{Group: d.Group, Resource: d.Plural}] = true
	}
	seen := map[typeName]*kindSeen{}
	for _, k := range s.kinds {
		// A definition declares a kind with another group.
		custom := !slices.Contains([]string{"", object.CRD.Group, object.APIService.Group}, k.place.Group)
		if _, ok := served.Preferred(k.resource()); custom && readable && !ok {
			snap.unserved(k, known[k.resource()])
			continue
		}
		snap.Objects = append(snap.Objects, k.take(served, seen)...)
	}
	snap.Resources = resourcesOf(served, false, true, definitions, seen)
	for _, r := range snap.Resources.All() {
		if r.Verbs.Has(object.Delete | object.List) {
			snap.coverage.Add(r.GroupResource(), "")
		}
	}
	for _, k := range s.kinds {
		k.open(snap)
	}
	for _, m := range missing {
		snap.Problems = append(snap.Problems, Problem{Kind: StaleDiscovery, Object: object.Ref{APIVersion: m.GroupVersion},
			Message: fmt.Sprintf("the kinds of %q are unknown: %s", m.GroupVersion, m.Why)})
	}
	if err := snap.settle(); err != nil {
		return nil, err
	}
	for _, m := range missing {
		snap.Gaps = append(snap.Gaps, Gap{APIVersion: m.GroupVersion, Resource: EveryResource, Why: why(reason.NotInDump, m.Why)})
	}
	slices.SortFunc(snap.Gaps, compareGaps)
	return snap, nil
}

// resource is the resource of the kind.
func (k *storedKind) resource() schema.GroupResource {
	if len(k.objects) > 0 {
		return StoredIn(k.place, k.objects[0].APIVersion)
	}
	return StoredIn(k.place, "")
}

// StoredIn returns the resource of a place in storage. The key of a built-in resource has no group:
// its objects have it in their apiVersion, or else the table of built-in resources.
func StoredIn(place etcd.Place, apiVersion string) schema.GroupResource {
	gr := schema.GroupResource{Group: place.Group, Resource: place.Resource}
	switch {
	case gr.Group != "":
	case apiVersion != "":
		gr.Group = object.GroupOf(apiVersion)
	default:
		if r, ok := builtinNames().resource(location{resource: gr.Resource}); ok {
			gr.Group = r.Group
		}
	}
	return object.Storage(gr)
}

// take returns the objects in the served version, whichever they are stored in. It records an
// unknown kind as seen.
func (k *storedKind) take(served *object.Resources, seen map[typeName]*kindSeen) []*object.Object {
	r, ok := served.Preferred(k.resource())
	for _, o := range k.objects {
		if ok {
			o.APIVersion, o.Kind = r.APIVersion(), r.Kind
			continue
		}
		name := typeName{o.APIVersion, o.Kind}
		if seen[name] == nil {
			seen[name] = &kindSeen{plural: k.place.Resource}
		}
		seen[name].namespaced = o.Namespace != ""
	}
	return k.objects
}

// unserved records a problem for objects that no request can reach: no definition declares their
// kind any more, or it is not established.
func (s *Snapshot) unserved(k *storedKind, defined bool) {
	n := len(k.objects) + k.sealed
	what := "no definition declares them"
	if defined {
		what = "their definition is not in effect"
	}
	s.Problems = append(s.Problems, Problem{Kind: Unread,
		Message: fmt.Sprintf("%d objects of %q are stored and were skipped: %s", n, k.resource().String(), what)})
}

// open removes a kind from the coverage if some of its objects could not be read.
func (k *storedKind) open(s *Snapshot) {
	gr := k.resource()
	switch {
	case k.broken != "":
		s.coverage.Fail(gr, "", reason.Truncated, k.broken)
	case k.sealed > 0:
		s.coverage.Fail(gr, "", reason.Encrypted, fmt.Sprintf("%d of its %d objects are encrypted in storage (%s)", k.sealed, k.sealed+len(k.objects), k.by))
	}
}

// Stored is an etcd snapshot that stays open: the cluster at its last revision, and its history.
type Stored struct {
	*Snapshot
	// Index has all changes since Oldest; Newest is the revision of the Snapshot.
	*etcd.Index
	Oldest, Newest int64

	file    *etcd.File
	reader  *reader
	decoder *etcd.Decoder
	// read is the number of past objects that were read.
	read int
}

// OpenStored opens an etcd snapshot.
func OpenStored(path string, o Options) (s *Stored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", shownName(path), err)
		}
	}()
	r, err := newReader(o)
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.Size() > r.limits.EntryBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrSize, stat.Size())
	}
	f, err := etcd.Open(path)
	if err != nil {
		return nil, err
	}
	s = &Stored{file: f, reader: r, Oldest: f.Oldest, Newest: f.Newest, decoder: etcd.NewDecoder(r.decoderOptions())}
	if err := s.readLast(path); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stored) readLast(path string) (err error) {
	if s.Index, err = s.file.Index(s.Oldest, s.Newest, s.reader.reserveEarly); err != nil {
		return err
	}
	if err := s.reader.readIndex(shownName(path), s.Index, s.Newest); err != nil {
		return err
	}
	s.Snapshot, err = s.reader.snapshot([]string{path})
	return err
}

// Close closes the file.
func (s *Stored) Close() {
	if s.Index != nil {
		s.Index.Close()
	}
	s.file.Close()
}

// Object returns the object of a change, in the version in which it is stored.
func (s *Stored) Object(key string, place etcd.Place, c etcd.Change) (*object.Object, error) {
	const often = 1 << 10
	if s.read++; s.read%often == 0 {
		if err := s.reader.reserve(0, s.read); err != nil {
			return nil, err
		}
	}
	e, err := s.Read(key, c)
	if err != nil {
		return nil, err
	}
	return objectAt(s.decoder, place, e)
}

// Text returns the whole object of a change as JSON.
func (s *Stored) Text(key string, c etcd.Change) ([]byte, error) {
	e, err := s.Read(key, c)
	if err != nil {
		return nil, err
	}
	return s.decoder.Text(e)
}

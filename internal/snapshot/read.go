package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Options configure the reading.
type Options struct {
	// Stdin is read for the path "-".
	Stdin io.Reader
	// AllowPartial turns broken files into problems and gaps. Without it they are errors: a
	// half-read file looks as if the other half didn't exist.
	AllowPartial bool
	// TreatMissingAsAbsent makes the snapshot cover everything: the user vouches for that.
	TreatMissingAsAbsent bool
	// CompletenessFlags is what the user states about the lists.
	CompletenessFlags CompletenessFlags
	// TakenAt, if not empty, is the time of the dump as an RFC 3339 text.
	TakenAt string
	// Revision selects the revision of an etcd snapshot; 0 means the newest.
	Revision int64
	// Limits bound the inputs.
	Limits Limits
	// Raw, if not nil, receives the parts that Wants requests of an object's JSON text, or all of
	// it without Wants; from an etcd snapshot perhaps more. The object has the version in which it
	// was found. The text is valid until Raw returns. It is empty if it isn't available, for
	// example because of its size. Snapshots in our own format have no texts.
	Wants func(o *object.Object) *manifest.Fields
	Raw   func(o *object.Object, text []byte) error
	// Evidence, if not nil, receives each line of evidence in a snapshot of our own format. The
	// line is valid until it returns.
	Evidence func(line []byte) error
	// Memory, if not nil, is called while inputs are read, and before large allocations. Its
	// parameters are the bytes to allocate, the number of objects read so far, and the limits. Its
	// error, which is an ErrLimit, ends the reading.
	Memory func(bytes int64, objects int, limits Limits) error
}

// ReadFiles reads files, directories and archives into one snapshot; "-" is the standard input. All
// of them must come from one cluster.
func ReadFiles(paths []string, o Options) (*Snapshot, error) {
	r, err := newReader(o)
	if err != nil {
		return nil, err
	}
	return r.readAll(paths)
}

func (r *reader) readAll(paths []string) (*Snapshot, error) {
	for _, path := range paths {
		if err := r.readInput(path); err != nil {
			return nil, err
		}
	}
	if r.options.Revision != 0 && !r.revisionRead {
		return nil, errors.New("only etcd snapshots have revisions, and none was given")
	}
	if err := r.skipped.refusal(len(paths)); err != nil {
		return nil, err
	}
	s, err := r.snapshot(paths)
	if err != nil {
		return nil, err
	}
	s.missingIsAbsent = s.missingIsAbsent || r.options.TreatMissingAsAbsent
	return s, nil
}

// reader collects the content of the inputs. It concludes nothing before all of them were read,
// because discovery documents and definitions may come last.
type reader struct {
	options Options
	limits  Limits
	intern  *manifest.Interner

	objects   []*object.Object
	seen      map[typeName]*kindSeen
	sightings []*sighting
	failed    []failure
	documents documents
	source    Source
	problems  []Problem
	// moment is the latest time at which an object was written, in seconds since 1970; 0 if
	// unknown.
	moment int64
	// kubelets are the versions in the Nodes.
	kubelets kubelets
	skipped  skipped
	// runs and bundles are those that were read completely.
	runs    []*sonobuoyRun
	bundles []*bundleRun
	stored  []*Snapshot
	// readBack is the number of objects in stored.
	readBack int
	// revisionRead is true if the requested revision was read from some input.
	revisionRead bool

	// workers is the number of files of a directory that are read concurrently.
	workers int
	// memory is shared with the concurrent readers of other files. counted is the number of this
	// reader's objects that memory knows of.
	memory  *memory
	counted int
	// stop is closed when the result is not needed any more; it may be nil.
	stop <-chan struct{}
}

func newReader(o Options) (*reader, error) {
	limits, err := o.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &reader{options: o, limits: limits, intern: manifest.NewInterner(), seen: map[typeName]*kindSeen{}, workers: min(runtime.GOMAXPROCS(0), mostFiles)}
	r.memory = &memory{room: o.Memory, limits: limits}
	if o.Raw != nil || o.Wants != nil || o.Evidence != nil { // they receive objects in the order of the files
		r.workers = 1
	}
	return r, nil
}

// reserve requests memory. waiting is the number of objects that were not handed over yet.
func (r *reader) reserve(bytes int64, waiting int) error {
	select {
	case <-r.stop:
		return errStopped
	default:
	}
	objects := len(r.objects) + r.readBack + waiting
	more := objects - r.counted
	r.counted = objects
	return r.memory.ask(bytes, more)
}

// inputError adds the name of a file, which is foreign text, to an error.
func inputError(file string, err error) error {
	if _, ok := errors.AsType[*manifest.Problem](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// readFile reads one file of an input at a location.
func (r *reader) readFile(in *input, file string, l location, content io.Reader) error {
	buffered := newBuffered(content)
	defer buffered.release()
	err := r.dispatch(in, file, l, asUTF8(buffered.Reader))
	if err == nil {
		return nil
	}
	err = inputError(file, err)
	return r.tolerate(in, l, file, err)
}

// startBytes is the number of bytes that are inspected to recognise a text.
const startBytes = 4 << 10

// holdsObjects reports whether a text may have objects. Otherwise it is a document that is read in
// one piece.
func (l location) holdsObjects(start []byte) (location, bool) {
	switch l.role {
	case discovery, failures, customFailures, queries, settings:
		return l, false
	case perhapsDiscovery, objects:
		if looksLikeDiscovery(start) {
			return l, false
		}
		if l.role == perhapsDiscovery {
			l.role = perhapsObjects
		}
	case foreign, perhapsObjects:
	}
	return l, true
}

// dispatch reads a file by its content: our own format, a small document, or objects.
func (r *reader) dispatch(in *input, file string, l location, content *bufio.Reader) error {
	start, err := content.Peek(startBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(start) == 0 {
		return err
	}
	if bytes.HasPrefix(start, []byte(formatMark)) {
		lines := &lineReader{from: content, hash: sha256.New(), limits: r.limits, reserve: r.reserve}
		s, err := readStored(lines, r.intern, r.options.Evidence)
		if err != nil {
			return err
		}
		r.stored = append(r.stored, s)
		r.readBack += len(s.Objects)
		return nil
	}
	l, ok := l.holdsObjects(start)
	if !ok {
		return r.readDocument(in, l, content)
	}
	if l.role == perhapsObjects && !strings.Contains(string(start), "apiVersion") {
		r.ignore()
		return nil
	}
	return r.readObjects(in, file, l, content, start)
}

// readObjects reads a file of objects and records its lists.
func (r *reader) readObjects(in *input, file string, l location, content io.Reader, start []byte) error {
	f := &fileReading{reader: r, location: l, file: file}
	options := textOptions(file, l, start)
	h := manifest.Handler{Object: f.object, List: f.list, Foreign: f.foreign, Moment: r.at, Kubelet: r.kubelets.add, Wants: r.options.Wants}
	if r.options.Raw != nil {
		h.Raw = r.raw
	}
	have := len(r.objects)
	options.Interner, options.Limits = r.intern, r.limits.reading(r.reserve)
	err := manifest.Read(content, options, h)
	if l.role == perhapsObjects && len(r.objects) == have && f.documents == 0 && isNoObject(err) {
		r.skipped.add(err.Error())
		r.ignore()
		return nil
	}
	if err != nil {
		f.broken(err)
		return err
	}
	if f.documents == 0 && f.foreigners > 0 {
		r.ignore()
	}
	if f.documents+f.foreigners == 0 && l.resource != "" {
		r.failed = append(r.failed, failure{location: l, reason: reason.Truncated, text: file + ": the file is empty"})
	}
	for _, list := range f.lists {
		list.stream = options.SkipText
	}
	in.sightings = append(in.sightings, f.lists...)
	if l.sonobuoy != "" {
		in.run(l.sonobuoy).add(f.lists, r.objects[have:])
	}
	if l.bundle != "" {
		in.bundle(l.bundle).add(f.lists, r.objects[have:])
	}
	return nil
}

// textOptions returns the options for reading the text of a file.
func textOptions(file string, l location, start []byte) manifest.Options {
	o := manifest.Options{File: file, SkipText: isClusterInfoStream(start), Namespace: l.namespace, Linked: linkedKind}
	if known, ok := builtinNames().resource(l); ok {
		o.APIVersion, o.Kind = l.apiVersionOf(known), known.Kind
		if !known.Namespaced {
			o.Namespace = ""
		}
	}
	return o
}

// linkedKind returns the apiVersion and kind of a built-in resource from the path of its list.
//
//	/api/v1/nodes                                     v1, Node
//	/apis/apps/v1/namespaces/kube-system/deployments  apps/v1, Deployment
func linkedKind(path string) (apiVersion, kind string) {
	l := location{grouped: true}
	root, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch root {
	case "api":
	case "apis":
		l.group, rest, _ = strings.Cut(rest, "/")
	default:
		return "", ""
	}
	l.version, rest, _ = strings.Cut(rest, "/")
	if in, ok := strings.CutPrefix(rest, "namespaces/"); ok {
		if _, plural, ok := strings.Cut(in, "/"); ok {
			rest = plural
		}
	}
	l.resource = rest
	known, ok := builtinNames().resource(l)
	if !ok {
		return "", ""
	}
	return groupVersion(l.group, l.version), known.Kind
}

// at records a time at which an object was written.
func (r *reader) at(seconds int64) { r.moment = max(r.moment, seconds) }

// raw passes the text of an object to Options.Raw, or none if decoding it could exceed the limit.
func (r *reader) raw(o *object.Object, text []byte) error {
	if strings.HasSuffix(o.APIVersion, unsaid) { // the version is known only at the end
		o = o.Clone()
		o.APIVersion = versionOf(builtinResources(), typeName{o.APIVersion, o.Kind})
	}
	if len(text) > 4<<10 && r.limits.checkDecoding(text) != nil {
		text = nil
	}
	if len(text) >= reserveEach {
		if err := r.reserve(manifest.Weight(text), 0); err != nil {
			return fmt.Errorf("%s: %w", printable(o.Ref), err)
		}
	}
	return r.options.Raw(o, text)
}

// isClusterInfoStream recognises the standard output of `kubectl cluster-info dump`, which starts
// with the nodes and has log lines between its documents. In other inputs text between documents is
// not skipped, because it could be a broken document.
func isClusterInfoStream(start []byte) bool {
	s := strings.TrimLeft(string(start), " \t\r\n\ufeff")
	if !strings.HasPrefix(s, "{") {
		return false
	}
	head := s[:min(len(s), 400)]
	return strings.Contains(head, `"NodeList"`) || strings.Contains(head, `"/api/v1/nodes"`) && strings.Contains(head, `"Items"`)
}

// fileReading is the state of reading one file.
type fileReading struct {
	reader   *reader
	location location
	file     string

	lists []*sighting
	// shown are the spots of the current list, in order, and known is the set of them. last is the
	// spot of the previous item. common is what the items have in common.
	shown  []spot
	known  map[spot]struct{}
	last   spot
	common common

	documents  int
	foreigners int
}

func (f *fileReading) object(o *object.Object, inList bool, _ manifest.Position) error {
	if !inList {
		f.documents++
	}
	if inList {
		f.common.add(o)
	}
	f.reader.objects = append(f.reader.objects, o)
	at := spot{typeName{o.APIVersion, o.Kind}, o.Namespace}
	if at != f.last || len(f.shown) == 0 {
		f.last = at
		f.reader.see(at, f.location)
		f.show(at, inList)
	}
	return nil
}

// show records that a list has an object of this kind in this namespace.
func (f *fileReading) show(at spot, inList bool) {
	if !inList {
		f.last = spot{}
		return
	}
	if _, ok := f.known[at]; ok {
		return
	}
	if f.known == nil {
		f.known = map[spot]struct{}{}
	}
	f.known[at] = struct{}{}
	f.shown = append(f.shown, at)
}

func (f *fileReading) list(l manifest.List) error {
	f.documents++
	f.lists = append(f.lists, &sighting{location: f.location, file: f.file, list: l, shown: f.shown, common: f.common})
	f.shown, f.known, f.last, f.common = nil, nil, spot{}, common{}
	return nil
}

func (f *fileReading) foreign(at manifest.Position, what string) error {
	f.foreigners++
	f.reader.skipped.add(at.String() + ": " + what)
	return nil
}

// broken records that a file could not be read to its end: it proves no absence, and the kinds in
// it are incomplete.
func (f *fileReading) broken(err error) {
	spots := f.shown
	for _, l := range f.lists {
		spots = append(spots, l.shown...)
	}
	for _, at := range spots {
		f.reader.failed = append(f.reader.failed, failure{spot: at, reason: reason.Truncated, text: err.Error()})
	}
}

// see records the kind of an object, for resources that are not declared elsewhere.
func (r *reader) see(at spot, l location) {
	k := r.seen[at.typeName]
	if k == nil {
		k = &kindSeen{}
		r.seen[at.typeName] = k
	}
	if at.namespace != "" {
		k.namespaced = true
	}
	if k.plural == "" && l.grouped && l.group == object.GroupOf(at.apiVersion) && l.resource != "" {
		k.plural = l.resource
	}
}

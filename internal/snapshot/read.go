package snapshot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Options say how to read.
type Options struct {
	// Stdin is read for the path "-".
	Stdin io.Reader
	// AllowPartial turns broken files into problems and gaps. Without it they are
	// errors, because a file that was read by half looks like one in which the
	// other half does not exist.
	AllowPartial bool
	// TreatMissingAsAbsent lets the snapshot cover everything: the user vouches
	// for it.
	TreatMissingAsAbsent bool
	// Vouched is what the user says of the lists.
	Vouched Vouched
	// TakenAt, if it is not empty, is when the dump was taken, as an RFC 3339 text.
	TakenAt string
	// Revision is the one that is read of an etcd snapshot; 0 for the newest.
	Revision int64
	// Limits bound the inputs.
	Limits Limits
	// Raw, if it is not nil, is given what Wants asks for of the JSON text of an object, or
	// all of it without Wants, and of an etcd snapshot perhaps more: in the version in which it was found; the text is good until
	// Raw returns, and empty where it cannot be had, be it for its size. A snapshot that this program wrote
	// has no texts.
	Wants func(o *object.Object) *manifest.Fields
	Raw   func(o *object.Object, text []byte) error
	// Evidence, if it is not nil, is given each line of evidence in a snapshot that this program
	// wrote; the line is good until it returns.
	Evidence func(line []byte) error
	// Memory, if it is not nil, is called as inputs are read, and before much memory is
	// taken, with how many bytes that is, with the number of objects that were read so
	// far, and with the limits. Its error, which is an ErrLimit, ends the reading.
	Memory func(bytes int64, objects int, limits Limits) error
}

// ReadFiles reads files, directories and archives into one snapshot; "-" is the
// standard input. All of them must come from one cluster.
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
	if err := r.passed.refusal(len(paths)); err != nil {
		return nil, err
	}
	s, err := r.snapshot(paths)
	if err != nil {
		return nil, err
	}
	s.missingIsAbsent = s.missingIsAbsent || r.options.TreatMissingAsAbsent
	return s, nil
}

// reader collects what the inputs hold. Nothing is concluded before all of them
// have been read, because discovery documents and definitions may come last.
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
	// moment is the latest time at which something was written, in seconds since 1970; 0
	// if nothing says so.
	moment int64
	// kubelets are the versions that the Nodes say.
	kubelets kubelets
	passed   passed
	// runs and bundles are those that were read whole.
	runs    []*sonobuoyRun
	bundles []*bundleRun
	stored  []*Snapshot
	// readBack counts the objects of stored.
	readBack int
	// revisionRead tells that the revision of the options was read of some input.
	revisionRead bool

	// workers is how many files of a directory are read at a time.
	workers int
	// memory is shared with the readers of other files, which read at the same time; counted is
	// how many objects of this reader it has been told about.
	memory  *memory
	counted int
	// stop is closed when what is being read is no longer needed; nil if it always is.
	stop <-chan struct{}
}

func newReader(o Options) (*reader, error) {
	limits, err := o.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &reader{options: o, limits: limits, intern: manifest.NewInterner(), seen: map[typeName]*kindSeen{}, workers: min(runtime.GOMAXPROCS(0), mostFiles)}
	r.memory = &memory{room: o.Memory, limits: limits}
	if o.Raw != nil || o.Wants != nil || o.Evidence != nil { // which are told about objects in the order of the files
		r.workers = 1
	}
	return r, nil
}

// reserve asks for memory, where so many objects wait that were not handed over yet.
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

// inputError names a file whose name is foreign text.
func inputError(file string, err error) error {
	if _, ok := errors.AsType[*manifest.Problem](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// readFile reads one file at a location. in is the input that it belongs to.
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

// startBytes is how much of a text is looked at to tell what it holds.
const startBytes = 4 << 10

// holdsObjects tells a text that may hold objects from the documents that are read in one piece.
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

func (r *reader) dispatch(in *input, file string, l location, content *bufio.Reader) error {
	start, err := content.Peek(startBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(start) == 0 {
		return err
	}
	if isStored(start) {
		s, err := readStored(r.lines(content), r.intern, r.options.Evidence)
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

// readObjects reads a file of objects and remembers its lists.
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
		r.passed.add(err.Error())
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

// textOptions say how to read the text of a file.
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

// at notes a time at which something was written.
func (r *reader) at(seconds int64) { r.moment = max(r.moment, seconds) }

// raw hands over the text of an object, or none where decoding it could take too much.
func (r *reader) raw(o *object.Object, text []byte) error {
	if strings.HasSuffix(o.APIVersion, unsaid) { // which version it is, is known at the end
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

// isClusterInfoStream recognises `kubectl cluster-info dump` on standard output,
// which starts with the nodes and has log lines between its documents. For no
// other input is text between documents skipped: it could be a broken document.
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
	// shown are the spots of the list under way, in order and as a set; last is
	// the spot of the item before, common what its items have in common.
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

// show remembers that a list holds an object of this kind in this namespace.
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
	f.reader.passed.add(at.String() + ": " + what)
	return nil
}

// broken records that a file could not be read to its end: nothing in it proves
// that anything is absent, and the kinds it was seen to hold are not whole.
func (f *fileReading) broken(err error) {
	spots := f.shown
	for _, l := range f.lists {
		spots = append(spots, l.shown...)
	}
	for _, at := range spots {
		f.reader.failed = append(f.reader.failed, failure{spot: at, reason: reason.Truncated, text: err.Error()})
	}
}

// see remembers the kind of an object for resources that nothing else declares.
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

package backup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Writer makes a backup: Add for every object, then Seal, then an Intent before each request and a
// Result after it, and Close. It is safe for concurrent use. After any error, no further request
// may be sent.
type Writer struct {
	head    Head
	above   *Directory
	dir     *Directory
	journal *journal

	mu      sync.Mutex // guards the fields below
	entries []Entry    // those of the manifest; never nil
	files   int
	// saved is the kept resourceVersion of each object.
	saved map[object.Ref]string
	// open are the intents without a result.
	open  map[int]bool
	state state
	// failed is the first error of a write. Every later call returns it.
	failed error
}

// state is the progress of a backup.
type state uint8

const (
	filling state = iota
	sealed
	closed
)

// Create makes a new backup directory in dir, and dir itself if missing.
func Create(dir string, head Head) (*Writer, error) {
	name, err := head.directoryName()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := MkdirAll(dir); err != nil {
		return nil, err
	}
	above, err := OpenDirectory(dir)
	if err != nil {
		return nil, err
	}
	own, err := above.CreateDirectory(name)
	if err != nil {
		return nil, errors.Join(err, above.Close())
	}
	return &Writer{head: head, above: above, dir: own, entries: []Entry{}, saved: map[object.Ref]string{}, open: map[int]bool{}}, nil
}

// Path returns the directory of the backup.
func (w *Writer) Path() string { return w.dir.Path }

// Add keeps an object byte for byte as the server sent it. Only the name of a Secret is kept unless
// the head asks for more. A changed object may be added again, even after Seal; the last version is
// restored.
func (w *Writer) Add(ref object.Ref, action Action, raw []byte) (Entry, error) {
	version, err := identify(ref, raw)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Object: ref, ResourceVersion: version, Action: action}
	if ref.Is(object.Secret) && !w.head.Secrets {
		e.Why = SecretLeftOut
		raw = nil
	}
	return w.add(e, raw)
}

// AddUnsaved lists an object without its bytes.
func (w *Writer) AddUnsaved(ref object.Ref, resourceVersion string, action Action, why Why) (Entry, error) {
	if why == "" {
		return Entry{}, fmt.Errorf("%s: an object that is not kept needs a reason", ref)
	}
	return w.add(Entry{Object: ref, ResourceVersion: resourceVersion, Action: action, Why: why}, nil)
}

func (w *Writer) add(e Entry, raw []byte) (Entry, error) {
	if e.Action != Deleted && e.Action != Changed {
		return Entry{}, fmt.Errorf("%s: unknown action %q", e.Object, e.Action)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil || w.state == closed {
		return Entry{}, cmp.Or(w.failed, errClosed)
	}
	if e.Restorable = e.Why == ""; e.Restorable {
		w.files++
		e.File, e.Size, e.SHA256 = objectName(w.files), int64(len(raw)), sumOf(raw)
		if w.failed = w.dir.WriteFile(e.File, raw); w.failed != nil {
			return Entry{}, w.failed
		}
	}
	if w.state == filling {
		w.entries = append(w.entries, e)
		w.saved[e.Object] = e.ResourceVersion
		return e, nil
	}
	if w.failed = w.dir.Sync(); w.failed != nil {
		return Entry{}, w.failed
	}
	if _, w.failed = w.journal.append(&Record{Kind: Saved, Entry: e}); w.failed != nil {
		return Entry{}, w.failed
	}
	w.saved[e.Object] = e.ResourceVersion
	return e, nil
}

// Seal writes the manifest and begins the journal. If it returns nil, the backup is complete and on
// the disk.
func (w *Writer) Seal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil && w.state != filling {
		return errors.New("the backup is sealed already")
	}
	if w.failed == nil {
		w.failed = w.seal()
	}
	return w.failed
}

func (w *Writer) seal() error {
	m := storedManifest{Schema: format, Head: w.head, Entries: w.entries}
	m.Created = m.Created.UTC()
	text, err := undo.Marshal(m)
	if err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", " "); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	indented.WriteByte('\n')
	if indented.Len() > maxManifest {
		return fmt.Errorf("%s would have %d bytes, at most %d are read", manifestName, indented.Len(), maxManifest)
	}
	if err := w.dir.WriteFile(manifestName, indented.Bytes()); err != nil {
		return err
	}
	f, err := w.dir.Create(journalName)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(w.dir.Path, journalName), err)
	}
	w.journal = &journal{f: f, prev: sumOf(indented.Bytes())} // its first line has the hash of the manifest
	if _, err := w.journal.append(&Record{Kind: Sealed, Time: w.head.Created}); err != nil {
		return err
	}
	if err := errors.Join(w.dir.Sync(), w.above.Sync()); err != nil {
		return err
	}
	w.state = sealed
	return nil
}

// Intent writes a request to the journal before it is sent, and returns its number. A DELETE is an
// error unless the backup contains the resourceVersion that the request requires, or any version if
// it requires only the UID. (I6)
func (w *Writer) Intent(i Intent) (int, error) {
	w.mu.Lock()
	err := w.ready()
	version, saved := w.saved[i.Object]
	w.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case i.Verb == http.MethodDelete && (!saved || i.ResourceVersion != "" && i.ResourceVersion != version):
		return 0, fmt.Errorf("%s at resourceVersion %q: %w", i.Object, i.ResourceVersion, ErrNotSaved)
	}
	seq, err := w.journal.append(&Record{Kind: Intended, Time: i.Time, Intent: i})
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[seq] = true
	return seq, nil
}

// Result writes the result of the request with the number of.
func (w *Writer) Result(of int, r Result) error {
	if !isKnownOutcome(r.Outcome) {
		return fmt.Errorf("unknown outcome %q", r.Outcome)
	}
	if err := w.answer(of); err != nil {
		return err
	}
	_, err := w.journal.append(&Record{Kind: Answered, Time: r.Time, Of: of, Result: r})
	return err
}

// answer removes an intent from those without a result.
func (w *Writer) answer(of int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(); err != nil {
		return err
	}
	if !w.open[of] {
		return fmt.Errorf("record %d of the journal expects no result", of)
	}
	delete(w.open, of)
	return nil
}

// ready is an error unless requests may be written to the journal.
func (w *Writer) ready() error {
	if w.failed != nil {
		return w.failed
	}
	switch w.state {
	case filling:
		return ErrUnsealed
	case closed:
		return errClosed
	default:
		return nil
	}
}

var errClosed = errors.New("the backup is closed")

func isKnownOutcome(o Outcome) bool { return o == Confirmed || o == Refused || o == Unknown }

// Close writes the end of the journal of a sealed backup and closes the directory. The journal of
// an interrupted run has no such end.
func (w *Writer) Close(at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == closed {
		return errClosed
	}
	var err error
	if w.state == sealed {
		_, err = w.journal.append(&Record{Kind: Ended, Time: at})
	}
	w.state = closed
	if w.journal != nil {
		err = errors.Join(err, w.journal.f.Close())
	}
	return errors.Join(err, w.dir.Close(), w.above.Close())
}

package backup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Backup is a backup that was read and verified.
type Backup struct {
	Head Head
	// Entries are the objects in the order in which they were first added, each in its last
	// version.
	Entries []Entry
	// Journal holds all complete lines. Torn reports that a crash left part of another line at the
	// end, Ended that the run finished.
	Journal []Record
	Torn    bool
	Ended   bool

	dir *Directory
}

// Is reports whether a path may be a backup, complete or not: it has a manifest, a journal or an
// object file.
func Is(path string) bool {
	for _, name := range []string{manifestName, journalName, objectName(1)} {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			return true
		}
	}
	return false
}

// Open reads a backup and checks every hash in it. The error of a damaged backup joins
// DamageErrors. The error of an unfinished one is ErrUnsealed. If memory refuses, its error is
// returned with the position.
func Open(path string, memory Memory) (*Backup, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir, err := OpenDirectory(path)
	if err != nil {
		return nil, err
	}
	b := &Backup{dir: dir}
	if err := b.read(&memoryUse{memory: memory}); err != nil {
		return nil, fmt.Errorf("backup %s: %w", path, errors.Join(err, dir.Close()))
	}
	return b, nil
}

// read reads the manifest and the journal, and then checks the bytes of all entries.
func (b *Backup) read(held *memoryUse) error {
	if err := held.checkLimit(manifestName, 0); err != nil {
		return err
	}
	f, err := b.dir.Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrUnsealed
	} else if err != nil {
		return err
	}
	all, sum, err := b.manifest(f, held)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	f, err = b.dir.Open(journalName)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: %w", journalName, ErrUnsealed)
	} else if err != nil {
		return err
	}
	b.Journal, b.Torn, err = readJournal(f, sum, held)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	b.Ended = b.Journal[len(b.Journal)-1].Kind == Ended
	late, err := lateEntries(b.Journal, all)
	if err != nil {
		return err
	}
	return b.indexEntries(append(all, late...))
}

// readJournal reads the complete lines, and reports whether part of one follows. prev is the hash of
// the manifest, which the first line must contain. A journal without
// its first line is damaged, since a backup is not sealed before that line is on the disk.
func readJournal(r io.Reader, prev string, held *memoryUse) (records []Record, torn bool, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	open := map[int]bool{} // intents without a result
	for n := 1; ; n++ {
		damage := func(why string) error { return &DamageError{File: journalName, Line: n, Why: why} }
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && n > 1:
			return records, len(line) > 0, nil
		case errors.Is(err, io.EOF):
			return nil, false, damage("the first line is incomplete")
		case err != nil:
			return nil, false, damage(err.Error())
		}
		r, sum, wrong := decode(line, prev)
		if wrong == "" && n > 1 && records[n-2].Kind == Ended {
			wrong = "it follows the end"
		}
		if wrong == "" {
			wrong = r.check(n, open)
		}
		if wrong != "" {
			return nil, false, damage(wrong)
		}
		if err := held.reserve(len(line), journalName, n); err != nil {
			return nil, false, err
		}
		records = append(records, r)
		prev = sum
	}
}

// readLine reads up to a newline and drops it. With io.EOF it returns the rest without newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("it has more than %d bytes", maxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// check returns what is wrong with line n; empty for nothing. open are the intents without a result.
func (r *Record) check(n int, open map[int]bool) string {
	if r.Seq != n {
		return fmt.Sprintf("it has the number %d", r.Seq)
	}
	if (r.Kind == Sealed) != (n == 1) {
		return "the first line, and no other, must say that the backup is complete"
	}
	switch r.Kind {
	case Sealed, Ended:
	case Saved:
		if r.Entry == (Entry{}) {
			return "it saves nothing"
		}
		return r.Entry.check(r.Entry.File) // the file is checked later
	case Intended:
		if r.Object == (object.Ref{}) {
			return "it names no object"
		}
		r.Intent.Time = r.Time
		open[n] = true
	case Answered:
		if !open[r.Of] {
			return fmt.Sprintf("it is the result of %d, which expects none", r.Of)
		}
		delete(open, r.Of)
		if !isKnownOutcome(r.Outcome) {
			return fmt.Sprintf("it has the unknown outcome %q", r.Outcome)
		}
		r.Result.Time = r.Time
	default:
		return fmt.Sprintf("it is of the unknown kind %q", r.Kind)
	}
	return ""
}

// lateEntries returns the entries that the journal adds to those of the manifest.
func lateEntries(journal []Record, early []Entry) ([]Entry, error) {
	files := object.Count(early, func(e Entry) bool { return e.Restorable })
	var late []Entry
	for i := range journal {
		r := &journal[i]
		if r.Kind != Saved {
			continue
		}
		if r.Entry.Restorable {
			files++
			if want := objectName(files); r.Entry.File != want {
				return nil, &DamageError{File: journalName, Line: r.Seq, Why: fmt.Sprintf("%s is in file %q, want %q", r.Entry.Object, r.Entry.File, want)}
			}
		}
		late = append(late, r.Entry)
	}
	return late, nil
}

// maxDamage bounds how many damaged files an error lists.
const maxDamage = 100

// indexEntries checks the bytes of all entries and keeps the last version of each object.
func (b *Backup) indexEntries(all []Entry) error {
	at := make(map[object.Ref]int, len(all))
	b.Entries = all[:0] // filtered in place: writes never overtake reads
	var damage []error
	more := 0
	for i := range all {
		e := all[i]
		if _, err := b.Raw(&e); err != nil && len(damage) < maxDamage {
			damage = append(damage, err)
		} else if err != nil {
			more++
		}
		if have, ok := at[e.Object]; ok {
			b.Entries[have] = e
			continue
		}
		at[e.Object] = len(b.Entries)
		b.Entries = append(b.Entries, e)
	}
	if more > 0 {
		damage = append(damage, fmt.Errorf("and %d more", more))
	}
	return errors.Join(damage...)
}

// Raw returns the bytes of an entry as the server sent them; nil if it has none. It checks their
// hash, identity and resourceVersion.
func (b *Backup) Raw(e *Entry) ([]byte, error) {
	if !e.Restorable {
		return nil, nil
	}
	raw, err := b.dir.Read(e.File, maxObject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DamageError{File: e.File, Why: "it is missing"}
	} else if err != nil {
		return nil, err
	}
	if int64(len(raw)) != e.Size || sumOf(raw) != e.SHA256 {
		return nil, &DamageError{File: e.File, Why: "its hash is not that of the manifest"}
	}
	version, err := identify(e.Object, raw)
	if err == nil && version != e.ResourceVersion {
		err = fmt.Errorf("%s: the bytes have resourceVersion %q, want %q", e.Object, version, e.ResourceVersion)
	}
	if err != nil {
		return nil, &DamageError{File: e.File, Why: err.Error()}
	}
	return raw, nil
}

// Unanswered returns the intents with an unknown outcome: those without a result, and those
// with the result Unknown.
func (b *Backup) Unanswered() []Record {
	unclear := map[int]bool{}
	for i := range b.Journal {
		switch r := &b.Journal[i]; {
		case r.Kind == Intended:
			unclear[r.Seq] = true
		case r.Kind == Answered && r.Result.Outcome != Unknown:
			delete(unclear, r.Of)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.Journal), func(r Record) bool { return !unclear[r.Seq] })
}

// CheckCluster is an error if the backup was made for another cluster. uid is the UID of the
// current namespace kube-system. The error is ErrUnknownCluster if either UID is unknown.
func (b *Backup) CheckCluster(uid types.UID) error {
	switch of := b.Head.Cluster; {
	case of.UID == "" || uid == "":
		return ErrUnknownCluster
	case of.UID != uid:
		return fmt.Errorf("the backup is of another cluster: namespace kube-system had uid %s there (%s), and has %s here", of.UID, of.Server, uid)
	default:
		return nil
	}
}

// Path returns the directory of the backup.
func (b *Backup) Path() string { return b.dir.Path }

// Close closes the directory.
func (b *Backup) Close() error { return b.dir.Close() }

// Memory is called before more is held. It returns an error if that many more bytes would be too
// much; objects is the number of entries and journal lines held so far. A nil Memory allows
// everything.
type Memory func(bytes int64, objects int) error

// memoryUse counts what is held in memory of a backup.
type memoryUse struct {
	memory  Memory
	objects int
	// pending are bytes that memory was not asked for yet.
	pending int64
}

// askEach is the number of bytes held between two calls of Memory, which take time.
const askEach = 256 << 10

// entrySize is the memory of an entry or a journal line in addition to its text, in bytes.
const entrySize = 512

// reserve accounts for an entry or a journal line of so many bytes, and fails if that is too much.
// where and n name its position in the error.
func (h *memoryUse) reserve(bytes int, where string, n int) error {
	h.objects++
	return h.add(bytes, where, n)
}

// add is reserve for text that is not counted as an object.
func (h *memoryUse) add(bytes int, where string, n int) error {
	h.pending += int64(bytes) + entrySize
	if h.pending < askEach {
		return nil
	}
	return h.checkLimit(where, n)
}

func (h *memoryUse) checkLimit(where string, n int) error {
	if h.memory == nil {
		return nil
	}
	if err := h.memory(h.pending, h.objects); err != nil {
		return fmt.Errorf("%s, number %d: %w", where, n, err)
	}
	h.pending = 0
	return nil
}

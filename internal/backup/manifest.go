package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// manifest reads the head and the entries of the manifest, and returns the hash of its text.
func (b *Backup) manifest(r io.Reader, held *memoryUse) (entries []Entry, sum string, err error) {
	m := &manifestReader{r: r, hash: sha256.New(), held: held}
	m.json = json.NewDecoder(m)
	entries, err = m.read(&b.Head)
	if err != nil {
		return nil, "", err
	}
	return entries, hex.EncodeToString(m.hash.Sum(nil)), nil
}

// manifestReader decodes a manifest as a stream. It buffers the text of one entry at a time.
type manifestReader struct {
	r    io.Reader
	json *json.Decoder
	hash hash.Hash
	// bytes is the number of bytes read, limit the error after too many.
	bytes int64
	limit error
	held  *memoryUse

	schema  int
	entries []Entry
	// files is the number of entries with a file.
	files int
}

// Read counts and hashes the bytes. It fails when the manifest or a single value is too long.
func (m *manifestReader) Read(p []byte) (int, error) {
	switch {
	case m.bytes > maxManifest:
		m.limit = fmt.Errorf("it has more than %d bytes", maxManifest)
	case m.bytes-m.json.InputOffset() > maxLine:
		m.limit = fmt.Errorf("a value has more than %d bytes", maxLine)
	}
	if m.limit != nil {
		return 0, m.limit
	}
	n, err := m.r.Read(p)
	m.bytes += int64(n)
	_, _ = m.hash.Write(p[:n]) // it never fails
	return n, err
}

func damagedManifest(why string) error { return &DamageError{File: manifestName, Why: why} }

// unreadable returns the error for a text that is not a manifest.
func (m *manifestReader) unreadable(err error) error {
	if m.limit != nil {
		return damagedManifest(m.limit.Error())
	}
	return damagedManifest("it is not a manifest: " + err.Error())
}

func (m *manifestReader) read(head *Head) ([]Entry, error) {
	if err := m.open('{'); err != nil {
		return nil, err
	}
	for m.json.More() {
		key, err := m.json.Token()
		if err != nil {
			return nil, m.unreadable(err)
		}
		name, _ := key.(string)
		if err := m.field(head, name); err != nil {
			return nil, err
		}
	}
	if _, err := m.json.Token(); err != nil { // its end
		return nil, m.unreadable(err)
	}
	if _, err := m.json.Token(); err == nil {
		return nil, damagedManifest("it is not a manifest: something follows it")
	} else if !errors.Is(err, io.EOF) {
		return nil, m.unreadable(err)
	}
	return m.entries, m.checkFormat()
}

// checkFormat is an error unless this program reads the format.
func (m *manifestReader) checkFormat() error {
	if m.schema != format {
		return damagedManifest(fmt.Sprintf("its format version is %d, but this program reads %d", m.schema, format))
	}
	return nil
}

// open reads the opening delimiter of an object or a list.
func (m *manifestReader) open(delim json.Delim) error {
	token, err := m.json.Token()
	if err != nil {
		return m.unreadable(err)
	}
	if token != delim {
		return damagedManifest(fmt.Sprintf("it is not a manifest: %v instead of %v", token, delim))
	}
	return nil
}

// field reads the value of a field of the manifest.
func (m *manifestReader) field(head *Head, name string) error {
	var into any
	switch name {
	case "kubectlGCBackup":
		into = &m.schema
	case "tool":
		into = &head.Tool
	case "command":
		into = &head.Command
	case "planDigest":
		into = &head.PlanDigest
	case "cluster":
		into = &head.Cluster
	case "created":
		into = &head.Created
	case "secrets":
		into = &head.Secrets
	case "witnesses":
		return m.list(func() error {
			var ref object.Ref
			if err := m.json.Decode(&ref); err != nil {
				return m.unreadable(err)
			}
			if len(head.Witnesses) == maxWitnesses {
				return damagedManifest(fmt.Sprintf("it has more than %d witnesses", maxWitnesses))
			}
			head.Witnesses = append(head.Witnesses, ref)
			return m.held.add(len(ref.Namespace)+len(ref.Name), manifestName, len(head.Witnesses))
		})
	case "entries":
		return m.list(m.entry)
	default:
		into = new(json.RawMessage)
	}
	if err := m.json.Decode(into); err != nil {
		return m.unreadable(err)
	}
	return nil
}

// list reads the elements of a list. The version of the format must precede it.
func (m *manifestReader) list(element func() error) error {
	if err := m.checkFormat(); err != nil {
		return err
	}
	if err := m.open('['); err != nil {
		return err
	}
	for m.json.More() {
		if err := element(); err != nil {
			return err
		}
	}
	if _, err := m.json.Token(); err != nil {
		return m.unreadable(err)
	}
	return nil
}

func (m *manifestReader) entry() error {
	start := m.json.InputOffset()
	var e Entry
	if err := m.json.Decode(&e); err != nil {
		return m.unreadable(err)
	}
	if err := m.held.reserve(int(m.json.InputOffset()-start), manifestName, len(m.entries)+1); err != nil {
		return err
	}
	if wrong := e.check(objectName(m.files + 1)); wrong != "" {
		return damagedManifest(wrong)
	}
	if e.Restorable {
		m.files++
	}
	m.entries = append(m.entries, e)
	return nil
}

package backup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// manifest reads the head and the entries of the manifest, and returns the hash of its text.
func (b *Backup) manifest(r io.Reader, held *memoryUse) (entries []Entry, sum string, err error) {
	m := &manifestReader{r: r, hash: sha256.New(), held: held}
	if err := m.read(); err != nil {
		return nil, "", err
	}
	b.Head = m.stored.Head
	return m.stored.Entries, hex.EncodeToString(m.hash.Sum(nil)), nil
}

// manifestReader decodes a manifest as a stream. It buffers the text of one entry at a time.
type manifestReader struct {
	r    io.Reader
	json *jsontext.Decoder
	hash hash.Hash
	// bytes is the number of bytes read. limit is the error after too many, damage that of an entry.
	bytes         int64
	limit, damage error
	held          *memoryUse
	stored        storedManifest
	// files is the number of entries with a file.
	files int
}

// Read counts and hashes the bytes. It fails when the manifest or a single value is too long.
func (m *manifestReader) Read(p []byte) (int, error) {
	switch {
	case m.bytes > maxManifest:
		m.limit = damagedManifest(fmt.Sprintf("it has more than %d bytes", maxManifest))
	case m.bytes-m.json.InputOffset() > maxLine:
		m.limit = damagedManifest(fmt.Sprintf("a value has more than %d bytes", maxLine))
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

// read reads the manifest to its end.
func (m *manifestReader) read() error {
	m.json = jsontext.NewDecoder(m, jsontext.AllowDuplicateNames(true))
	err := m.expect('{')
	if err == nil {
		err = json.UnmarshalDecode(m.json, &m.stored, json.WithUnmarshalers(json.JoinUnmarshalers(
			json.UnmarshalFromFunc(func(_ *jsontext.Decoder, to *[]object.Ref) error { return readList(m, to, m.checkWitness) }),
			json.UnmarshalFromFunc(func(_ *jsontext.Decoder, to *[]Entry) error { return readList(m, to, m.checkEntry) }))))
	}
	if err == nil {
		if _, err = m.json.ReadToken(); errors.Is(err, io.EOF) {
			return m.checkFormat()
		}
		err = cmp.Or(err, errors.New("something follows it"))
	}
	return cmp.Or(m.limit, m.damage, damagedManifest("it is not a manifest: "+err.Error()))
}

// expect is an error if the next value is of another kind.
func (m *manifestReader) expect(kind jsontext.Kind) error {
	if next := m.json.PeekKind(); next != kind && next != jsontext.KindInvalid {
		return fmt.Errorf("%v instead of %v", next, kind)
	}
	return nil
}

// checkFormat is an error unless this program reads the format.
func (m *manifestReader) checkFormat() error {
	if m.stored.Schema != format {
		return damagedManifest(fmt.Sprintf("its format version is %d, but this program reads %d", m.stored.Schema, format))
	}
	return nil
}

// readList reads a list and checks each element. The version of the format must precede it.
func readList[T any](m *manifestReader, to *[]T, check func(element *T, bytes int) error) error {
	if m.damage = m.checkFormat(); m.damage != nil {
		return m.damage
	}
	if err := m.expect('['); err != nil {
		return err
	}
	if _, err := m.json.ReadToken(); err != nil {
		return err
	}
	for m.json.PeekKind() != ']' {
		start := m.json.InputOffset()
		var element T
		if err := json.UnmarshalDecode(m.json, &element); err != nil {
			return err
		}
		if m.damage = check(&element, int(m.json.InputOffset()-start)); m.damage != nil {
			return m.damage
		}
		*to = append(*to, element)
	}
	_, err := m.json.ReadToken()
	return err
}

func (m *manifestReader) checkWitness(ref *object.Ref, _ int) error {
	n := len(m.stored.Witnesses)
	if n == maxWitnesses {
		return damagedManifest(fmt.Sprintf("it has more than %d witnesses", maxWitnesses))
	}
	return m.held.add(len(ref.Namespace)+len(ref.Name), manifestName, n+1)
}

func (m *manifestReader) checkEntry(e *Entry, bytes int) error {
	if err := m.held.reserve(bytes, manifestName, len(m.stored.Entries)+1); err != nil {
		return err
	}
	if wrong := e.check(objectName(m.files + 1)); wrong != "" {
		return damagedManifest(wrong)
	}
	if e.Restorable {
		m.files++
	}
	return nil
}

package kept

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// frameSize is how many bytes of entries make a frame while there are more to come.
const frameSize = 1 << 20

// writer appends entries to a file.
type writer struct {
	f       private.File
	sealing *sealing
	pack    *zstd.Encoder
	entries bytes.Buffer
	encoder *jsontext.Encoder
	frames  uint64
	// size is that of the whole frames in the file.
	size int64
}

// newWriter begins a file.
func newWriter(f private.File, key Key, h *head) (*writer, error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	s, err := newSealing(id, key)
	if err != nil {
		return nil, err
	}
	w := &writer{f: f, sealing: s}
	if w.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(frameSize), zstd.WithLowerEncoderMem(true)); err != nil {
		return nil, err
	}
	w.encoder = jsontext.NewEncoder(&w.entries)
	first, err := title{Format: formatVersion, ID: id, Encrypted: key != nil}.line()
	if err != nil {
		return nil, err
	}
	n, err := f.Write(first)
	w.size = int64(n)
	if err != nil {
		return nil, err
	}
	err = w.add(&entry{Head: h})
	return w, err
}

// add takes an entry; it is in the file after flush, or earlier.
func (w *writer) add(e *entry) error {
	if err := json.MarshalEncode(w.encoder, e, json.Deterministic(true)); err != nil {
		return err
	}
	if w.entries.Len() < frameSize {
		return nil
	}
	return w.frame()
}

// lines takes entries that are lines already.
func (w *writer) lines(text []byte) error {
	for len(text) > 0 {
		end := len(text)
		if end > frameSize {
			end = frameSize + bytes.IndexByte(text[frameSize:], '\n') + 1
		}
		w.entries.Write(text[:end])
		text = text[end:]
		if err := w.frame(); err != nil {
			w.entries.Write(text) // it comes with the next try
			return err
		}
	}
	return nil
}

// frame writes the entries. If that fails, they can be written again.
func (w *writer) frame() error {
	if w.entries.Len() == 0 {
		return nil
	}
	frame, err := w.sealing.seal(w.pack, w.entries.Bytes(), w.frames)
	if err != nil {
		return err
	}
	if _, err := w.f.Write(frame); err != nil {
		return errors.Join(err, w.back())
	}
	w.frames++
	w.size += int64(len(frame))
	w.entries.Reset()
	return nil
}

// back takes off what was written of a frame.
func (w *writer) back() error {
	f, ok := w.f.(*os.File)
	if !ok {
		return nil
	}
	if err := f.Truncate(w.size); err != nil {
		return err
	}
	_, err := f.Seek(w.size, io.SeekStart)
	return err
}

// flush has everything on the disk.
func (w *writer) flush() error {
	if err := w.frame(); err != nil {
		return err
	}
	return w.f.Sync()
}

func (w *writer) close() error { return errors.Join(w.flush(), w.f.Close()) }

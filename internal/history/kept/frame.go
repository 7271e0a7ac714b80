package kept

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// A frame is its length in four bytes, the SHA-256 of its content, its number and the id of the
// file, the CRC-32C of these 36 bytes, and the content. The CRC tells a length that is wrong from
// a frame that was not written to its end.
const (
	lengthSize = 4
	headSize   = lengthSize + sha256.Size + 4
	// mostContent bounds a frame as it is stored, mostEntries as it is read.
	mostContent = 32 << 20
	mostEntries = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealing is how the frames of one file are made and opened.
type sealing struct {
	id   []byte
	aead cipher.AEAD // nil for none
}

// newSealing is that of a file with an id; without a key nothing is encrypted.
func newSealing(id []byte, key Key) (*sealing, error) {
	s := &sealing{id: id}
	if key == nil {
		return s, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s.aead, err = cipher.NewGCMWithRandomNonce(block)
	return s, err
}

// place is what a frame is bound to: it is no other frame of this file, and of no other file.
func (s *sealing) place(number uint64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(s.id), number)
}

func (s *sealing) sum(content []byte, number uint64) [sha256.Size]byte {
	return sha256.Sum256(append(s.place(number), content...))
}

// seal makes a frame of entries.
func (s *sealing) seal(pack *zstd.Encoder, entries []byte, number uint64) ([]byte, error) {
	if len(entries) > mostEntries {
		return nil, fmt.Errorf("a frame would have %d bytes, at most %d are read", len(entries), mostEntries)
	}
	content := pack.EncodeAll(entries, nil)
	if s.aead != nil {
		content = s.aead.Seal(nil, nil, content, s.place(number))
	}
	if len(content) > mostContent {
		return nil, fmt.Errorf("a frame would have %d bytes, at most %d are read", len(content), mostContent)
	}
	frame := make([]byte, 0, headSize+len(content))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(content)))
	sum := s.sum(content, number)
	frame = append(frame, sum[:]...)
	frame = binary.BigEndian.AppendUint32(frame, crc32.Checksum(frame, castagnoli))
	return append(frame, content...), nil
}

// errTorn says that a file ends within a frame.
var errTorn = errors.New("the last frame was not written to its end")

// next reads the next frame. It returns io.EOF at the end of the file, and errTorn where that is
// within a frame; any other error says what is wrong with it.
func (s *sealing) next(r io.Reader, unpack *zstd.Decoder, number uint64) (entries []byte, size int64, err error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, errTorn
	case err != nil:
		return nil, 0, err
	}
	length := binary.BigEndian.Uint32(head)
	sum := head[lengthSize : headSize-4]
	if crc32.Checksum(head[:headSize-4], castagnoli) != binary.BigEndian.Uint32(head[headSize-4:]) {
		if empty(head) && onlyZeros(r) {
			return nil, 0, errTorn // the file had grown, and its content was not on the disk yet
		}
		return nil, 0, errors.New("its length and its sum are not what was written")
	}
	if length > mostContent {
		return nil, 0, fmt.Errorf("it has %d bytes, at most %d are read", length, mostContent)
	}
	var content bytes.Buffer
	got, err := io.Copy(&content, io.LimitReader(r, int64(length)))
	if err != nil {
		return nil, 0, err
	}
	if got < int64(length) {
		return nil, 0, errTorn
	}
	size = int64(n) + got
	if have := s.sum(content.Bytes(), number); !bytes.Equal(have[:], sum) {
		if trailing, err := io.CopyN(io.Discard, r, 1); trailing == 0 && err != nil {
			return nil, 0, errTorn // its length had been written, and not all of its content
		}
		return nil, 0, errors.New("its sum is not that of its content")
	}
	plain := content.Bytes()
	if s.aead != nil {
		if plain, err = s.aead.Open(nil, nil, plain, s.place(number)); err != nil {
			return nil, 0, errWrongKey
		}
	}
	entries, err = unpack.DecodeAll(plain, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("it cannot be unpacked: %w", err)
	}
	return entries, size, nil
}

func empty(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// onlyZeros reports whether nothing else comes until the end.
func onlyZeros(r io.Reader) bool {
	b := make([]byte, 64<<10)
	for {
		n, err := r.Read(b)
		if !empty(b[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

func newUnpacker() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(mostEntries))
}

// DamageError says that a file of history is not what was written. Its line is the number of a
// frame.
type DamageError = private.DamageError

// damaged is the error of a frame.
func damaged(file string, frame uint64, why string) error {
	return &DamageError{File: file, Line: int(frame) + 1, Why: why}
}

package snapshot

import (
	"bytes"
	"encoding/binary"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A compressed snapshot consists of parts: gzip members or zstd frames of whole lines.
// Every decompressor reads them as one stream, and so do we when we read a whole file.
// Who looks for a few objects finds where parts start without decompressing, by
// startsOfParts. (docs/adr/0014)

// partSize is how many bytes of lines a part has at least, the last one excepted; a
// piece of a lineWriter may come on top. A part is what is decompressed to see one of
// its lines. Smaller ones compress worse.
const partSize = 512 << 10

// partWriter compresses what is written to it in parts. Each write has to end with a
// line.
type partWriter struct {
	w io.Writer
	// size is how many bytes of lines make a part.
	size int
	// pack compresses a part. What it returns is good until its next call.
	pack  func(lines []byte) ([]byte, error)
	lines []byte
}

func (p *partWriter) Write(lines []byte) (int, error) {
	if p.lines == nil {
		p.lines = make([]byte, 0, p.size+len(lines))
	}
	p.lines = append(p.lines, lines...)
	if len(p.lines) < p.size {
		return len(lines), nil
	}
	return len(lines), p.end()
}

// Close writes the last part.
func (p *partWriter) Close() error {
	if len(p.lines) == 0 {
		return nil
	}
	return p.end()
}

// end writes the pending lines as a part.
func (p *partWriter) end() error {
	packed, err := p.pack(p.lines)
	if err != nil {
		return err
	}
	p.lines = p.lines[:0]
	_, err = p.w.Write(packed)
	return err
}

// gzipHead is how a gzip member of ours starts. Its extra field (RFC 1952, 2.3.1.1)
// has one subfield, KG: the length of the member in bytes, from its first to its last,
// which follows gzipHead as eight bytes, the least one first.
const gzipHead = "\x1f\x8b\x08\x04" + // gzip, deflate, with an extra field
	"\x00\x00\x00\x00\x00\xff" + // no time, no level, no system
	"\x0c\x00" + subfield

const subfield = "KG\x08\x00"

// gzipParts compresses parts as gzip members.
func gzipParts() func(lines []byte) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	return func(lines []byte) ([]byte, error) {
		packed.Reset()
		z.Reset(&packed)
		z.ModTime = time.Unix(0, 0) // which is none
		z.Extra = []byte(subfield + "........")
		if _, err := z.Write(lines); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(packed.Bytes()[len(gzipHead):], uint64(packed.Len()))
		return packed.Bytes(), nil
	}
}

// zstdParts compresses parts as zstd frames.
func zstdParts() (func(lines []byte) ([]byte, error), error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	var packed []byte
	return func(lines []byte) ([]byte, error) {
		packed = z.EncodeAll(lines, packed[:0])
		return packed, nil
	}, nil
}

// startsOfParts are the offsets in a compressed file at which its parts start; none
// unless one follows the other from its first byte to its last. A file that has none is
// damaged or was written in another way, and has to be read from its start.
//
// What is said about lengths is a claim of the file. It may only decide where to start
// to read; that lines of ours start there, these lines have to show.
func startsOfParts(file io.ReaderAt, size int64, packing format) []int64 {
	h := &heads{file: file, left: mostHeads}
	var starts []int64
	for at := int64(0); at < size; {
		length := h.length(at, packing)
		if length <= 0 || length > size-at {
			return nil
		}
		starts = append(starts, at)
		at += length
	}
	return starts
}

// mostHeads bounds how often a file is asked for a length, so that one of millions of
// tiny parts does not take minutes. 8 GiB of lines in zstd frames take three quarters of it.
const mostHeads = 1 << 17

// heads reads the heads of parts and blocks, which say how long these are.
type heads struct {
	file io.ReaderAt
	left int
}

// read reads the bytes at an offset, fewer at the end of the file.
func (h *heads) read(at int64, into []byte) []byte {
	if h.left == 0 {
		return nil
	}
	h.left--
	n, _ := h.file.ReadAt(into, at) // what cannot be read is no head
	return into[:n]
}

// length is how many bytes the part at an offset has; none or fewer if no part of ours
// starts there.
func (h *heads) length(at int64, packing format) int64 {
	switch packing {
	case gzipped:
		return h.gzipLength(at)
	case zstandard:
		return h.zstdLength(at)
	case text, zipped, tarred:
	}
	return 0
}

func (h *heads) gzipLength(at int64) int64 {
	var buffer [len(gzipHead) + 8]byte
	head := h.read(at, buffer[:])
	if len(head) < len(buffer) || string(head[:len(gzipHead)]) != gzipHead {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(head[len(gzipHead):]))
}

// zstdLength adds up the blocks of a frame, for the frame does not say how long it is.
// (RFC 8878, 3.1.1)
func (h *heads) zstdLength(at int64) int64 {
	const blockHead, checksum = 3, 4
	var buffer [zstd.HeaderMaxSize]byte
	var frame zstd.Header
	if err := frame.Decode(h.read(at, buffer[:])); err != nil || frame.Skippable {
		return 0
	}
	length := int64(frame.HeaderSize)
	for {
		head := h.read(at+length, buffer[:blockHead])
		if len(head) < blockHead {
			return 0
		}
		// One bit says that it is the last block, two of what type, the others its size.
		const repeated = 1
		bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
		size := int64(bits >> 3)
		if bits>>1&3 == repeated {
			size = 1 // the byte to repeat; the size is how often
		}
		length += blockHead + size
		if last := bits&1 == 1; last {
			break
		}
	}
	if frame.HasCheckSum {
		length += checksum
	}
	return length
}

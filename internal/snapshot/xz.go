package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// xzReader reads the concatenated streams of an xz file. A block declares its dictionary size, up
// to 4 GiB: one above window is refused before it is allocated. All checks of the format are made,
// so that truncated or changed data is detected.
//
// Format: tukaani.org/xz/xz-file-format.txt, version 1.2.1.
type xzReader struct {
	in *xzInput
	// window is the largest allowed dictionary.
	window int

	// block is the current block; nil between blocks.
	block *xzBlock
	// flags are those of the stream: the kind of its checksums.
	flags [2]byte
	// blocks is the number of blocks in the stream; records is a checksum over their sizes.
	blocks, records uint64
}

// xzInput counts the bytes read and treats the end of the input as an error.
type xzInput struct {
	r *bufio.Reader
	n uint64
}

func (in *xzInput) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.n += uint64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ReadByte keeps decoders from adding a buffer, which would read ahead.
func (in *xzInput) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(in, b[:])
	return b[0], err
}

// xzBlock is the current block.
type xzBlock struct {
	data  io.Reader
	check hash.Hash
	// start is the offset of its data in the input, header the size of the block header.
	start, header uint64
	size          uint64
	// packed and unpacked are the declared sizes; -1 if undeclared.
	packed, unpacked int64
}

var errXZ = errors.New("the data is corrupt")

func newXZ(content *bufio.Reader, window int) (*xzReader, error) {
	x := &xzReader{in: &xzInput{r: content}, window: window}
	if err := x.streamHeader(); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *xzReader) Read(p []byte) (int, error) {
	for {
		if x.block == nil {
			if err := x.next(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := x.block.data.Read(p)
		if n > 0 {
			x.block.check.Write(p[:n])
			x.block.size += uint64(n)
		}
		if errors.Is(err, io.EOF) {
			err = x.endBlock()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// sum returns an error unless the next four bytes are the checksum of b.
func (x *xzReader) sum(b []byte) error {
	var sum [4]byte
	if _, err := io.ReadFull(x.in, sum[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(sum[:]) != crc32.ChecksumIEEE(b) {
		return errXZ
	}
	return nil
}

func (x *xzReader) streamHeader() error {
	var b [8]byte
	if _, err := io.ReadFull(x.in, b[:]); err != nil {
		return err
	}
	if !bytes.HasPrefix(b[:], xzMagic) || b[6] != 0 || b[7] > 0x0f {
		return errXZ
	}
	x.flags = [2]byte(b[6:])
	x.blocks, x.records = 0, 0
	return x.sum(x.flags[:])
}

var xzMagic = []byte("\xfd7zXZ\x00")

// next moves to the next block, across the ends of streams. It returns io.EOF after the last one.
func (x *xzReader) next() error {
	size, err := x.in.ReadByte()
	if err != nil {
		return err
	}
	if size > 0 {
		return x.startBlock(size)
	}
	if err := x.index(); err != nil {
		return err
	}
	for { // padding, in fours
		start, err := x.in.r.Peek(4)
		switch {
		case len(start) == 0 && errors.Is(err, io.EOF):
			return io.EOF
		case len(start) == 4 && bytes.Equal(start, make([]byte, 4)):
			_, err = x.in.r.Discard(4)
		case len(start) == 4:
			return x.streamHeader()
		default:
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}

func (x *xzReader) startBlock(size byte) error {
	b := make([]byte, 4*int(size)) // without its checksum
	b[0] = size
	if _, err := io.ReadFull(x.in, b[1:]); err != nil {
		return err
	}
	if err := x.sum(b); err != nil {
		return err
	}
	flags, rest := b[1], bytes.NewReader(b[2:])
	if flags&0x3f != 0 {
		return errors.New("it has filters that are not read")
	}
	block := &xzBlock{header: uint64(len(b)) + 4, start: x.in.n, packed: -1, unpacked: -1}
	for _, f := range []struct {
		flag byte
		size *int64
	}{{0x40, &block.packed}, {0x80, &block.unpacked}} {
		if flags&f.flag == 0 {
			continue
		}
		n, err := binary.ReadUvarint(rest)
		if err != nil || n > 1<<62 {
			return errXZ
		}
		*f.size = int64(n)
	}
	filter := make([]byte, 3)
	if _, err := io.ReadFull(rest, filter); err != nil || filter[0] != 0x21 || filter[1] != 1 {
		return errors.New("it has filters that are not read")
	}
	dictionary, err := dictionarySize(filter[2])
	if err != nil {
		return errXZ
	}
	if dictionary > int64(x.window) {
		return tooWide("xz", x.window)
	}
	if block.check, err = xzCheck(x.flags[1]); err != nil {
		return err
	}
	block.data, err = codec.NewReader(codec.LZMA2, x.in, int(dictionary))
	x.block = block
	return err
}

// dictionarySize returns the size in bytes of a dictionary, which the header of a block encodes as
// two bits of mantissa and five bits of exponent: 0 is 4 KiB, 1 is 6 KiB, 2 is 8 KiB.
func dictionarySize(code byte) (int64, error) {
	const largest = 40
	switch {
	case code > largest:
		return 0, errXZ
	case code == largest:
		return 1<<32 - 1, nil
	}
	return int64(2|code&1) << (11 + code/2), nil
}

// xzCheck returns the checksum that the flags of a stream select.
func xzCheck(flags byte) (hash.Hash, error) {
	switch flags {
	case 0x00:
		return noSum{}, nil
	case 0x01:
		return crc32.NewIEEE(), nil
	case 0x04:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 0x0a:
		return sha256.New(), nil
	}
	return nil, fmt.Errorf("checksums of kind %d are not read", flags)
}

// noSum is the absent checksum: then only the sizes and the checksum of the index are checked.
type noSum struct{ hash.Hash }

func (noSum) Write(p []byte) (int, error) { return len(p), nil }
func (noSum) Sum(b []byte) []byte         { return b }
func (noSum) Size() int                   { return 0 }

// endBlock checks a finished block.
func (x *xzReader) endBlock() error {
	block := x.block
	x.block = nil
	packed := x.in.n - block.start
	if block.packed >= 0 && uint64(block.packed) != packed || block.unpacked >= 0 && uint64(block.unpacked) != block.size {
		return errXZ
	}
	if err := padding(x.in, packed); err != nil {
		return err
	}
	want := block.check.Sum(nil)
	if block.check.Size() < sha256.Size { // these are written the other way round
		slices.Reverse(want)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(x.in, got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errXZ
	}
	x.blocks++
	x.records = addRecord(x.records, block.header+packed+uint64(len(want)), block.size)
	return nil
}

// addRecord adds the sizes of a block to the checksum over them.
func addRecord(sum, packed, unpacked uint64) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, sum)
	b = binary.LittleEndian.AppendUint64(b, packed)
	b = binary.LittleEndian.AppendUint64(b, unpacked)
	return crc64.Checksum(b, crc64.MakeTable(crc64.ECMA))
}

// padding reads the zeros after n bytes.
func padding(from io.ByteReader, n uint64) error {
	for ; n%4 != 0; n++ {
		if b, err := from.ReadByte(); err != nil || b != 0 {
			return errors.Join(err, errXZ)
		}
	}
	return nil
}

// summed adds the bytes read of the index to its checksum.
type summed struct {
	in  *xzInput
	sum uint32
	n   uint64
}

func (s *summed) ReadByte() (byte, error) {
	b, err := s.in.ReadByte()
	if err == nil {
		s.sum = crc32.Update(s.sum, crc32.IEEETable, []byte{b})
		s.n++
	}
	return b, err
}

// index reads the index, except its first byte, and the footer.
func (x *xzReader) index() error {
	s := &summed{in: x.in, sum: crc32.ChecksumIEEE([]byte{0}), n: 1}
	blocks, err := binary.ReadUvarint(s)
	if err != nil || blocks != x.blocks {
		return errors.Join(err, errXZ)
	}
	records := uint64(0)
	for range blocks {
		packed, err := binary.ReadUvarint(s)
		if err != nil {
			return err
		}
		unpacked, err := binary.ReadUvarint(s)
		if err != nil {
			return err
		}
		records = addRecord(records, packed, unpacked)
	}
	if err := padding(s, s.n); err != nil {
		return err
	}
	var sum [4]byte
	if _, err := io.ReadFull(x.in, sum[:]); err != nil {
		return err
	}
	if records != x.records || binary.LittleEndian.Uint32(sum[:]) != s.sum {
		return errXZ
	}
	return x.footer((s.n + 4) / 4)
}

// footer reads the end of a stream with an index of that many words.
func (x *xzReader) footer(index uint64) error {
	var b [12]byte
	if _, err := io.ReadFull(x.in, b[:]); err != nil {
		return err
	}
	if crc32.ChecksumIEEE(b[4:10]) != binary.LittleEndian.Uint32(b[:]) || uint64(binary.LittleEndian.Uint32(b[4:]))+1 != index ||
		[2]byte(b[8:]) != x.flags || string(b[10:]) != "YZ" {
		return errXZ
	}
	return nil
}

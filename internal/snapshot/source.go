package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// format is what the first bytes of a stream are.
type format uint8

const (
	text format = iota
	gzipped
	zstandard
	zipped
	tarred
)

// tarBlock is the size of a tar header.
const tarBlock = 512

// formatOf recognises a stream by its content; names and extensions lie.
func formatOf(start []byte) format {
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return zipped
	case isTar(start):
		return tarred
	default:
		return text
	}
}

// isTar checks the checksum of the first header, which every tar dialect has;
// the magic word is missing in the oldest one. An empty archive is two blocks of
// zeros.
func isTar(start []byte) bool {
	if len(start) < tarBlock {
		return false
	}
	header := start[:tarBlock]
	sum, signed := int64(0), int64(0)
	for i, b := range header {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int64(b)
		signed += int64(int8(b))
	}
	if sum == 8*' ' {
		return bytes.Count(header, []byte{0}) == tarBlock
	}
	recorded := int64(0)
	digits := 0
	for _, b := range bytes.Trim(header[148:156], " \x00") {
		if b < '0' || b > '7' {
			return false
		}
		recorded = recorded*8 + int64(b-'0')
		digits++
	}
	return digits > 0 && (recorded == sum || recorded == signed)
}

// maxNesting bounds compression within compression; tools that gzip a tar.gz a
// second time exist.
const maxNesting = 3

// readStream reads a stream of unknown format. file is set when the stream is a
// file that can be read in place.
func (r *reader) readStream(in *input, name string, content io.Reader, file *sized) error {
	buffered := bufio.NewReaderSize(content, 64<<10)
	var inner *metered
	for depth := 0; ; depth++ {
		start, err := buffered.Peek(tarBlock)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		switch formatOf(start) {
		case zipped:
			if depth > 0 {
				file = nil
			}
			return r.readZip(in, buffered, file)
		case tarred:
			if depth == 0 {
				return r.readTar(in, &metered{r: buffered, m: &in.meter})
			}
			return r.readTar(in, buffered)
		case text:
			if depth == 0 {
				return r.readFile(in, name, nameHint(name), &metered{r: buffered, m: &in.meter, whole: true})
			}
			inner.whole = true
			return r.readFile(in, name, nameHint(name), buffered)
		default: // compressed
		}
		if depth == maxNesting {
			return fmt.Errorf("%s: compressed more than %d times", in.name, maxNesting)
		}
		unpacked, closer, err := in.unpack(buffered, depth)
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		defer closer() //nolint:gocritic // maxNesting of them at most, and all are in use until the end
		inner = unpacked
		buffered = bufio.NewReaderSize(unpacked, 64<<10)
	}
}

// nameHint takes from the name of a single file only the kind of items that do
// not say theirs. How far such a file reaches its name cannot tell.
func nameHint(name string) location {
	l := location{role: objects, scope: shown, single: true}
	if base, ok := textName(path.Base(name)); ok {
		if base == "version" || base == "groups" || base == "resources" {
			l.role = perhapsDiscovery
		}
		if plural := strings.ToLower(base); builtinNames().isPlural(plural) {
			l.resource = plural
		}
	}
	return l
}

// unpack starts to decompress a gzip or zstd stream, on the account of the input, in
// which so many others are open.
func (in *input) unpack(content *bufio.Reader, depth int) (*metered, func(), error) {
	start, _ := content.Peek(4)
	if formatOf(start) == zstandard {
		window := in.meter.limits.windowBytes(depth)
		z, err := zstd.NewReader(content, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderMaxMemory(uint64(window)))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return &metered{r: z, m: &in.meter, window: window}, z.Close, nil
	}
	z, err := gzip.NewReader(content)
	if err != nil {
		return nil, nil, fmt.Errorf("gzip: %w", err)
	}
	return &metered{r: z, m: &in.meter}, func() { _ = z.Close() }, nil
}

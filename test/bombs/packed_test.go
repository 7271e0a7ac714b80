package bombs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// form is a way to pack an input.
type form struct {
	name string
	pack func(write func(io.Writer)) func(io.Writer)
}

func gzipped(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		write(z)
		_ = z.Close()
	}
}

func zstandard(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		write(z)
		_ = z.Close()
	}
}

func lz4ed(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z := lz4.NewWriter(w)
		write(z)
		_ = z.Close()
	}
}

// members are gzip members of which each ends in the middle of what the input is.
func members(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		m := &memberWriter{w: w}
		write(m)
		m.end()
	}
}

type memberWriter struct {
	w io.Writer
	z *gzip.Writer
	n int
}

func (m *memberWriter) Write(p []byte) (int, error) {
	if m.z == nil {
		m.z, _ = gzip.NewWriterLevel(m.w, gzip.BestSpeed)
	}
	n, err := m.z.Write(p)
	if m.n += n; m.n > mib {
		m.end()
	}
	return n, err
}

func (m *memberWriter) end() {
	if m.z != nil {
		_ = m.z.Close()
	}
	m.z, m.n = nil, 0
}

// zipOf is a zip archive with the input as one file of a name.
func zipOf(name string) func(write func(io.Writer)) func(io.Writer) {
	return func(write func(io.Writer)) func(io.Writer) {
		return func(w io.Writer) {
			z := zip.NewWriter(w)
			f, _ := z.Create(name)
			write(f)
			_ = z.Close()
		}
	}
}

// sizer counts what it is given.
type sizer int64

func (s *sizer) Write(p []byte) (int, error) { *s += sizer(len(p)); return len(p), nil }

// tarOf is a tar archive with the input as one file of a name.
func tarOf(name string) func(write func(io.Writer)) func(io.Writer) {
	return func(write func(io.Writer)) func(io.Writer) {
		return func(w io.Writer) {
			var size sizer
			write(&size)
			z := tar.NewWriter(w)
			_ = z.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(size)})
			write(z)
			_ = z.Close()
		}
	}
}

// of packs with the second what the first has packed.
func of(inner, outer func(func(io.Writer)) func(io.Writer)) func(func(io.Writer)) func(io.Writer) {
	return func(write func(io.Writer)) func(io.Writer) { return outer(inner(write)) }
}

var forms = []form{
	{"gzip", gzipped},
	{"gzip members", members},
	{"zstd", zstandard},
	{"gzip in gzip", of(gzipped, gzipped)},
	{"zstd in gzip in zstd", of(of(zstandard, gzipped), zstandard)},
	{"zip", zipOf("default/pods.json")},
	{"zip in gzip", of(zipOf("default/pods.json"), gzipped)},
	{"gzip in zip", of(gzipped, zipOf("default/pods.json.gz"))},
	{"zstd in zip", of(zstandard, zipOf("default/pods.json.zst"))},
	{"tar", tarOf("default/pods.json")},
	{"tar in gzip", of(tarOf("default/pods.json"), gzipped)},
	{"tar in zstd", of(tarOf("default/pods.json"), zstandard)},
	{"lz4", lz4ed},
	{"tar in lz4 in tar", of(of(tarOf("default/pods.json"), lz4ed), tarOf("default.tar.lz4"))},
	{"gzip in tar in zstd", of(of(gzipped, tarOf("default/pods.json.gz")), zstandard)},
}

// N23: both formats in every compression and archive, as files and on standard input; in
// the ordinary run one of the two as a file, and the other on standard input.
func TestPacked(t *testing.T) {
	var bombs []bomb
	for i, f := range forms {
		for _, stdin := range []bool{false, true} {
			name := f.name
			if stdin {
				name += " on standard input"
			}
			bombs = append(bombs,
				bomb{name: name + ", JSON", long: stdin != (i%2 == 0), stdin: stdin, want: oneObject,
					write: f.pack(inside(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`, "x", 100*mib, `"}}`))},
				bomb{name: name + ", large JSON", long: true, stdin: stdin, objects: 1,
					write: f.pack(inside(`{"spec":{"apiVersion":"`, "x", 100*mib, `"},"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`))},
				bomb{name: name + ", YAML", long: stdin == (i%2 == 0), stdin: stdin, want: oneValue,
					write: f.pack(inside("apiVersion: ", "x", 100*mib, "\n"))},
			)
		}
	}
	tryAll(t, bombs)
}

// N23, N24: containers that lie, or are bombs themselves.
func TestContainers(t *testing.T) {
	const noPods = `{"kind":"PodList","apiVersion":"v1","items":[]}`
	small := podHead + podTail
	tryAll(t, []bomb{
		{name: "zip of forged sizes", write: forgedZip, want: "decompression bomb"},
		{name: "zip of many files", write: func(w io.Writer) {
			z := zip.NewWriter(w)
			for i := range 400_000 {
				_, _ = z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("%d", i)})
			}
			_ = z.Close()
		}, want: "the limit for the directory of a zip archive"},
		{name: "large zip on standard input", long: true, stdin: true, write: func(w io.Writer) {
			z := zip.NewWriter(w)
			f, _ := z.CreateHeader(&zip.FileHeader{Name: "pods.json", Method: zip.Store})
			inside(podHead+`},"data":{"a":"`, "x", large(300*mib), `"}}`)(f)
			_ = z.Close()
		}, want: "the limit for a zip archive that is not a file"},
		{name: "large zip", write: func(w io.Writer) {
			z := zip.NewWriter(w)
			f, _ := z.CreateHeader(&zip.FileHeader{Name: "pods.json", Method: zip.Store})
			inside(podHead+`},"data":{"a":"`, "x", large(300*mib), `"}}`)(f)
			_ = z.Close()
		}, objects: 1},
		{name: "tar of a forged size", write: func(w io.Writer) {
			z := tar.NewWriter(w)
			_ = z.WriteHeader(&tar.Header{Name: "pods.json", Typeflag: tar.TypeReg, Size: 8 << 30})
			put(w, small)
		}, want: "reading ends early"},
		{name: "tar of a size beyond all limits", write: func(w io.Writer) {
			z := tar.NewWriter(w)
			_ = z.WriteHeader(&tar.Header{Name: "pods.json", Typeflag: tar.TypeReg, Size: 1 << 60})
			put(w, small)
		}, want: "reading ends early"},
		{name: "sparse tar", write: sparseTar, want: "pods.json"},
		{name: "tar of many files", write: func(w io.Writer) {
			z := tar.NewWriter(w)
			for i := range many(50_000) {
				_ = z.WriteHeader(&tar.Header{Name: fmt.Sprintf("default/pods%d.json", i), Typeflag: tar.TypeReg, Size: int64(len(noPods))})
				put(z, noPods)
			}
			_ = z.Close()
		}},
		{name: "zstd with a window of 128 MiB", write: wideZstd(27), want: "window"},
		{name: "zstd with a window of 1 GiB", write: wideZstd(30), want: "window"},
		{name: "zstd of a forged size", write: forgedZstd, want: "zstd"},
		{name: "gzip of a long name", write: func(w io.Writer) {
			put(w, "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff")
			times(w, "x", large(500*mib))
		}, want: "gzip"},
		{name: "growth without end", write: zstandard(inside(`{"a":`, " ", 400*mib, `1}`)), want: "--max-input"},
		{name: "compressed four times", write: gzipped(gzipped(gzipped(gzipped(inside(small, " ", mib, ""))))), want: "compressed more than 3 times"},
		{name: "directory of many files", make: func(t *testing.T, dir string) {
			for d := range many(100) {
				at := filepath.Join(dir, fmt.Sprint(d))
				if err := os.MkdirAll(at, 0o755); err != nil {
					t.Fatal(err)
				}
				for i := range 200 {
					if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("pods%d.json", i)), []byte(noPods), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}},
	})
}

// forgedZip is an archive whose file claims, in its directory, to have been compressed from
// what no disk holds.
func forgedZip(w io.Writer) {
	var packed bytes.Buffer
	zipOf("pods.json")(inside(`{"a":[`, " ", 300*mib, "]}"))(&packed)
	b := packed.Bytes()
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[at+20:], 0xfffffff0) // the compressed size
	_, _ = w.Write(b)
}

// rawTar is a block of a tar header.
func rawTar(name string, kind byte, size int) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000600\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x0000000000000\x00        ", size))
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// sparseTar is an archive of a file that is a hole of 500 GiB behind its start.
func sparseTar(w io.Writer) {
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=pods.json", "GNU.sparse.realsize=536870912000"} {
		records += fmt.Sprintf("%d %s\n", len(r)+4, r)
	}
	pad := func(text string) []byte { return append([]byte(text), make([]byte, 512-len(text))...) }
	for _, block := range [][]byte{
		rawTar("x", 'x', len(records)), pad(records),
		rawTar("pods.json", '0', 1024), pad("1\n0\n512\n"), bytes.Repeat([]byte(" "), 512),
		make([]byte, 1024),
	} {
		_, _ = w.Write(block)
	}
}

// wideZstd is a frame whose header asks for a window of 1<<bits bytes, and repeats blanks.
func wideZstd(bits byte) func(io.Writer) {
	return func(w io.Writer) {
		_, _ = w.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, (bits - 10) << 3})
		const blockSize = 128 << 10
		for i := range 8000 {
			head := uint32(blockSize<<3 | 1<<1) // of one byte, repeated
			if i == 7999 {
				head |= 1
			}
			_, _ = w.Write([]byte{byte(head), byte(head >> 8), byte(head >> 16), ' '})
		}
	}
}

// forgedZstd says that it holds four bytes.
func forgedZstd(w io.Writer) {
	_, _ = w.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 4})
	for range 2000 {
		head := uint32(128<<10<<3 | 1<<1)
		_, _ = w.Write([]byte{byte(head), byte(head >> 8), byte(head >> 16), ' '})
	}
}

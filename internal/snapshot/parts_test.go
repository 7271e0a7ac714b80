package snapshot

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// inParts is a snapshot as a file of parts of a size.
func inParts(t rapid.TB, s *Snapshot, c Compression, size int) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := s.write(&file, c, size); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// inOnePart is a snapshot as a file of the time before there were parts.
func inOnePart(t rapid.TB, s *Snapshot, c Compression) []byte {
	t.Helper()
	var file bytes.Buffer
	var packed io.WriteCloser = unpacked{&file}
	switch c {
	case Gzip:
		packed = gzip.NewWriter(&file)
	case Zstd:
		stream, err := zstd.NewWriter(&file, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		packed = stream
	case Uncompressed:
	}
	if err := s.writeLines(packed, 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// town is a snapshot of five kinds in three namespaces, of 40 objects each.
func town(t testing.TB) *Snapshot {
	t.Helper()
	var objects []*object.Object
	for i := range 200 {
		kind := [][2]string{{"apps/v1", "Deployment"}, {"example.com/v1", "Cart"}, {"v1", "ConfigMap"}, {"v1", "Node"}, {"v1", "Pod"}}[i%5]
		ref := object.Ref{APIVersion: kind[0], Kind: kind[1], Namespace: fmt.Sprint("team-", i%3), Name: fmt.Sprint("web-", i%7, "-", i), UID: types.UID(fmt.Sprint("uid-", i*7919))}
		if kind[1] == "Node" {
			ref.Namespace = ""
		}
		objects = append(objects, &object.Object{Ref: ref, Labels: object.LabelsOf(map[string]string{"app": fmt.Sprint("web-", i%7)})})
	}
	s, err := New(objects, nil, CoversEverything(), Source{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const townPart = 1000

func packingOf(c Compression) format {
	return map[Compression]format{Uncompressed: text, Gzip: gzipped, Zstd: zstandard}[c]
}

// TestPartsAreOneStream: what any decompressor makes of the parts are the lines.
func TestPartsAreOneStream(t *testing.T) {
	s := town(t)
	want := inParts(t, s, Uncompressed, townPart)
	for _, c := range []Compression{Gzip, Zstd} {
		file := inParts(t, s, c, townPart)
		if again := inParts(t, s, c, townPart); !bytes.Equal(file, again) {
			t.Errorf("%d: other bytes when it is written again", c)
		}
		var stream io.Reader
		if c == Gzip {
			z, err := stdgzip.NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			stream = z
		} else {
			z, err := zstd.NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(z.Close)
			stream = z
		}
		if got, err := io.ReadAll(stream); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d: %v; %d bytes of lines, want %d", c, err, len(got), len(want))
		}
	}
}

// TestPartsEnd: a file that ends with a whole part which is not the last one is not
// whole, nor is one that lacks a part.
func TestPartsEnd(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		file := inParts(t, town(t), c, townPart)
		starts := startsOfParts(bytes.NewReader(file), int64(len(file)), packingOf(c))
		if len(starts) < 10 {
			t.Fatalf("%d: parts at %v", c, starts)
		}
		ends := slices.Concat(starts[1:], []int64{int64(len(file))})
		for i, start := range starts {
			if _, err := readBytes(file[:start], Options{AllowPartial: true}); start > 0 && (err == nil || !strings.Contains(err.Error(), manifest.ErrTruncated.Error())) {
				t.Errorf("%d: cut before part %d: %v", c, i, err)
			}
			if _, err := readBytes(slices.Concat(file[:start], file[ends[i]:]), Options{AllowPartial: i > 0}); err == nil {
				t.Errorf("%d: read without part %d", c, i)
			}
		}
	}
}

// TestOutlineReadsFewParts: to name objects, no more is decompressed than the parts that
// they are in, and the first lines of some others; and all of it in an older file.
func TestOutlineReadsFewParts(t *testing.T) {
	s := town(t)
	whole := int64(len(inParts(t, s, Uncompressed, 1)))
	path := filepath.Join(t.TempDir(), "town")
	decompressed := func(file []byte) int64 {
		writeFile(t, path, file)
		f, err := openStored(path, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.close()
		q := rowQuery{number: 4, namespaced: true, namespace: "team-2", prefix: "web-6"}
		found := 0
		if err := f.rows(q.first(), func(at row, _ []byte) error {
			if q.matches(at.namespace, at.name) {
				found++
			}
			return nil
		}); err != nil || found == 0 {
			t.Fatalf("%d found, %v", found, err)
		}
		return f.in.meter.total
	}
	for _, c := range []Compression{Gzip, Zstd} {
		if n := decompressed(inOnePart(t, s, c)); n != whole {
			t.Errorf("%d: %d bytes of an older file, it has %d", c, n, whole)
		}
		file := inParts(t, s, c, townPart)
		if n := decompressed(file); n > whole/4 {
			t.Errorf("%d: %d bytes of %d", c, n, whole)
		}
	}
}

// TestLiesAboutParts: whatever a gzip file says about the lengths of its parts, it is
// read as a whole, and the outline names what is in it.
func TestLiesAboutParts(t *testing.T) {
	s := town(t)
	file := inParts(t, s, Gzip, 2*townPart)
	honest, err := readBytes(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	starts := startsOfParts(bytes.NewReader(file), int64(len(file)), gzipped)
	path := filepath.Join(t.TempDir(), "town.gz")
	for i, start := range starts {
		for _, length := range []uint64{0, 1, 26, 1 << 20, 1 << 62, 1 << 63, 1<<64 - 1, uint64(int64(len(file)) - start), uint64(starts[len(starts)-1] - start)} {
			lying := bytes.Clone(file)
			binary.LittleEndian.PutUint64(lying[start+int64(len(gzipHead)):], length)
			if back, err := readBytes(lying, Options{}); err != nil || diff(honest, back) != "" {
				t.Fatalf("part %d of length %d: %v", i, length, err)
			}
			writeFile(t, path, lying)
			l, err := ReadOutline([]string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			agrees(t, s, l, "web-3", true, "team-1")
		}
	}
}

// TestFileChangesUnderOutline: names are those of the file whose types were read.
func TestFileChangesUnderOutline(t *testing.T) {
	s := town(t)
	path := writeFile(t, filepath.Join(t.TempDir(), "town.gz"), inParts(t, s, Gzip, townPart))
	l, err := ReadOutline([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, inParts(t, s, Zstd, townPart), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := l.Names(object.Resource{Version: "v1", Kind: "Node"}, "", ""); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%d names, %v", len(names), err)
	}
}

// FuzzOutline: a file of parts is damaged in one place. Reading its outline does not
// panic; if the file can still be read as a whole, the outline names the same.
func FuzzOutline(f *testing.F) {
	s := town(f)
	var files [][]byte
	for _, c := range []Compression{Gzip, Zstd} {
		file := inParts(f, s, c, townPart)
		files = append(files, file, inOnePart(f, s, c))
		for _, start := range startsOfParts(bytes.NewReader(file), int64(len(file)), packingOf(c))[:3] {
			for _, at := range []int64{0, 4, int64(len(gzipHead))} {
				f.Add(uint8(len(files)-2), uint16(start+at), []byte{1, 0xff, 0, 0})
			}
		}
	}
	files = append(files, inParts(f, s, Uncompressed, 1), nil)
	limits := Limits{TotalBytes: 4 << 20, EntryBytes: 4 << 20, Entries: 100, MemoryBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, damage []byte) {
		if len(damage) > 1<<16 {
			return
		}
		file := bytes.Clone(files[int(which)%len(files)])
		if file == nil {
			file = damage
		} else {
			copy(file[int(at)%len(file):], damage)
		}
		path := writeFile(t, filepath.Join(t.TempDir(), "file"), file)
		l, err := ReadOutline([]string{path}, Options{Limits: limits})
		if err != nil {
			return
		}
		if whole, err := ReadFiles([]string{path}, Options{Limits: limits}); err == nil && len(whole.Objects) <= 2*len(s.Objects) {
			agrees(t, whole, l, "web-3", which%2 == 0, "team-1", "")
			return
		}
		for _, r := range l.Resources.All() {
			_, _ = l.Names(r, "team-1", "web")
			_, _ = l.Find(r, "team-2", "web-3")
		}
		_, _ = l.Namespaces()
	})
}

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// blockSize is the number of bytes that are read at a time.
const blockSize = 64 << 10

// storedOfAnyLength returns a file with lines shorter and longer than a block, that end at a
// block's end, and that begin there.
func storedOfAnyLength(t *testing.T) (*Snapshot, []byte) {
	t.Helper()
	var objects []*object.Object
	for i, n := range []int{1, blockSize, 10, 3 * blockSize, 1, blockSize - 1, 4 << 10, blockSize / 2, blockSize / 2, 2, 5*blockSize + 7, 1} {
		objects = append(objects, &object.Object{
			Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("%02d-%s", i, strings.Repeat("x", n)), UID: types.UID(fmt.Sprint("u", i))},
		})
	}
	for i := range 4000 {
		objects = append(objects, &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("p%05d", i), UID: types.UID(fmt.Sprint("p", i))}})
	}
	s, err := New(objects, nil, CoversEverything(), Source{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, Uncompressed, Evidence{}); err != nil {
		t.Fatal(err)
	}
	return s, b.Bytes()
}

// A file is read the same from any chunks.
func TestStoredInPieces(t *testing.T) {
	want, whole := storedOfAnyLength(t)
	for name, from := range map[string]func(io.Reader) io.Reader{
		"at once":         func(r io.Reader) io.Reader { return r },
		"half":            iotest.HalfReader,
		"end with data":   iotest.DataErrReader,
		"in small pieces": func(r io.Reader) io.Reader { return &pieces{r, 0} },
	} {
		s, err := ReadFiles([]string{"-"}, Options{Stdin: from(bytes.NewReader(whole))})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.EqualFunc(s.Objects, want.Objects, object.Equal) {
			t.Errorf("%s: other objects", name)
		}
	}
}

// Every defect of a file is reported.
func TestStoredBroken(t *testing.T) {
	_, whole := storedOfAnyLength(t)
	broken := errors.New("the disk is broken")
	for n := len(formatMark); n <= len(whole); n += 1 + n%9973 {
		_, err := ReadFiles([]string{"-"}, Options{Stdin: io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken))})
		if !errors.Is(err, broken) {
			t.Fatalf("broken after %d of %d bytes: %v", n, len(whole), err)
		}
		if n == len(whole) {
			break
		}
		if _, err := readBytes(whole[:n], Options{}); !errors.Is(err, errFormat) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
	if _, err := readBytes(append(bytes.Clone(whole), '\n'), Options{}); err == nil || !strings.Contains(err.Error(), "follows its last line") {
		t.Errorf("something follows: %v", err)
	}
	for _, at := range []int{len(whole) / 3, len(whole) - 100} {
		damaged := bytes.Clone(whole)
		damaged[bytes.IndexByte(damaged[at:], 'x')+at] = 'y'
		if _, err := readBytes(damaged, Options{}); err == nil || !strings.Contains(err.Error(), "hash") && !strings.Contains(err.Error(), "trailer") {
			t.Errorf("changed at %d: %v", at, err)
		}
	}
}

// pieces reads a few bytes at a time, and sometimes none.
type pieces struct {
	io.Reader
	reads int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.reads++; p.reads%5 == 0 {
		return 0, nil
	}
	return p.Reader.Read(b[:min(len(b), 1000+p.reads%7)])
}

// An input that returns no bytes and doesn't end is an error. So is a line above the limit, before
// all of it is held.
func TestStoredEndless(t *testing.T) {
	whole := storedExample(t)
	nothing := readerOf(func([]byte) (int, error) { return 0, nil })
	if _, err := ReadFiles([]string{"-"}, Options{Stdin: io.MultiReader(bytes.NewReader(whole[:len(whole)-5]), nothing)}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("nothing for ever: %v", err)
	}
	much := readerOf(func(b []byte) (int, error) { return copy(b, strings.Repeat("x", len(b))), nil })
	limits := Limits{MemoryBytes: 1 << 20}
	if _, err := ReadFiles([]string{"-"}, Options{Limits: limits, Stdin: io.MultiReader(bytes.NewReader(whole[:len(whole)-5]), much)}); !errors.Is(err, ErrLimit) ||
		!strings.Contains(err.Error(), "one value or line") {
		t.Errorf("one line for ever: %v", err)
	}
}

// An unreadable line ends the reading, whatever follows.
func TestStoredOddLine(t *testing.T) {
	whole := storedExample(t)
	odd := bytes.Replace(whole, []byte(`"t":0`), []byte(`"t":x`), 1)
	spaces := readerOf(func(b []byte) (int, error) { return copy(b, strings.Repeat(" ", len(b))), nil })
	_, err := ReadFiles([]string{"-"}, Options{Stdin: io.MultiReader(bytes.NewReader(odd), spaces)})
	if !errors.Is(err, errFormat) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

type readerOf func([]byte) (int, error)

func (r readerOf) Read(b []byte) (int, error) { return r(b) }

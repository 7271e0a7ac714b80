package snapshot

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestPlainWriter: the lines of any sequence of objects equal those of the JSON encoder, whether or
// not an object shares parts with the previous one.
func TestPlainWriter(t *testing.T) {
	types := map[typeName]int{}
	for i, name := range plainTypes {
		types[name] = i
	}
	plain, odd := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPlainWriter(types)
		var lines, want []byte
		var before *object.Object
		for _, o := range rapid.SliceOfN(rapid.Custom(genObject), 1, 20).Draw(t, "objects") {
			number := rapid.IntRange(0, len(plainTypes)-1).Draw(t, "type")
			o.APIVersion, o.Kind = plainTypes[number].apiVersion, plainTypes[number].kind
			if before != nil && rapid.Bool().Draw(t, "sibling") {
				o.Owners = before.Owners
			}
			if before != nil && rapid.Bool().Draw(t, "alike") {
				o.Labels, o.Lifecycle = before.Labels, before.Lifecycle
			}
			before = o
			var err error
			if lines, err = p.append(lines, o); err != nil {
				t.Fatal(err)
			}
			want = append(append(want, lineOf(t, o, number)...), '\n')
			if !bytes.Equal(lines, want) {
				t.Fatalf("written as\n%swanted\n%s", lines, want)
			}
			if _, ok := p.plain(nil, o); ok {
				plain++
			} else {
				odd++
			}
		}
	})
	if plain == 0 || odd == 0 {
		t.Errorf("%d lines were plain, and %d were not", plain, odd)
	}
}

// FuzzPlainWriter: a string is written, or refused, as by the JSON encoder.
func FuzzPlainWriter(f *testing.F) {
	for _, seed := range []string{"web", "a\"b", "a\\b", "é", "\x00", "a\x00b\x00", "\x1f", "\x7f", "\xff", "\u2028", "<&>"} {
		f.Add(seed, "1", int64(0), uint8(0))
		f.Add("web", seed, int64(-5), uint8(2))
	}
	f.Fuzz(func(t *testing.T, one, other string, number int64, flag uint8) {
		s := &Snapshot{coverage: &Coverage{}, Resources: &object.Resources{}}
		for _, o := range []*object.Object{
			{Ref: object.Ref{Kind: "K", Name: one, Namespace: other}, Labels: object.Labels(other), Created: number},
			{Ref: object.Ref{Kind: "K", UID: "1"}, Labels: object.Labels(one), ResourceVersion: other, Generation: number,
				Owners: []object.OwnerReference{{Name: one, Kind: other, Controller: object.Flag(flag), BlockOwnerDeletion: object.Flag(flag)}}},
			{Ref: object.Ref{Kind: "K"}, Lifecycle: &object.Lifecycle{Finalizers: []string{one, other}, DeletionTimestamp: number}},
		} {
			p := newPlainWriter(map[typeName]int{{"", "K"}: 0})
			got, err := p.append(nil, o)
			p.stored.take(o, 0)
			want, wrong := p.encode(&p.stored)
			if (err == nil) != (wrong == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%+v: written as %q, %v, wanted %q, %v", o, got, err, want, wrong)
			}
			s.Objects = append(s.Objects, o)
		}
		if err := s.Write(io.Discard, Zstd, Evidence{}); err != nil && (isUTF8(one) && isUTF8(other)) {
			t.Fatal(err)
		}
	})
}

func isUTF8(s string) bool { return bytes.Equal(bytes.ToValidUTF8([]byte(s), []byte("?")), []byte(s)) }

// TestWriteSaysWhatFailed: Write returns the error of its writer, whenever it fails.
func TestWriteSaysWhatFailed(t *testing.T) {
	s := &Snapshot{coverage: &Coverage{}, Resources: &object.Resources{}}
	for range 10_000 {
		s.Objects = append(s.Objects, &object.Object{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web", UID: "57ef11b8-e4b0-4c06-9084-63f44d6d90a5"}})
	}
	var whole bytes.Buffer
	if err := s.Write(&whole, Uncompressed, Evidence{}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 1, pieceSize + 1, 3 * pieceSize, whole.Len() - 1} {
		if err := s.Write(&fullDisk{left: after}, Uncompressed, Evidence{}); !errors.Is(err, errFull) {
			t.Errorf("after %d of %d bytes: %v", after, whole.Len(), err)
		}
	}
	if err := s.Write(&fullDisk{}, Zstd, Evidence{}); !errors.Is(err, errFull) {
		t.Errorf("compressed: %v", err)
	}
}

// TestCompressedAlike: a compressed snapshot has the same bytes on any number of processors.
func TestCompressedAlike(t *testing.T) {
	s := &Snapshot{coverage: &Coverage{}, Resources: &object.Resources{}}
	for i := range 100_000 {
		s.Objects = append(s.Objects, &object.Object{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: strconv.Itoa(i * i), UID: types.UID(strconv.Itoa(i))}})
	}
	var first []byte
	for _, processors := range []int{1, 2, 5} {
		var packed bytes.Buffer
		before := runtime.GOMAXPROCS(processors)
		err := s.Write(&packed, Zstd, Evidence{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = packed.Bytes()
		}
		if !bytes.Equal(first, packed.Bytes()) {
			t.Errorf("other bytes with %d processors", processors)
		}
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

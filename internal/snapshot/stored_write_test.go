package snapshot

import (
	"bytes"
	"errors"
	"runtime"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

package snapshot

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestFrames: whatever is written, in pieces of any size, is what comes out, and the bytes are
// the same however many frames are packed at once.
func TestFrames(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{0, 1, frameSize - 1, frameSize, frameSize + 1, 7*frameSize + 3} {
		content := make([]byte, size)
		_, _ = random.Read(content)
		for i := range content {
			content[i] = "kubectl gc"[content[i]%10]
		}
		var first []byte
		for _, processors := range []int{1, 2, mostFrames + 1} {
			before := runtime.GOMAXPROCS(processors)
			packed := inPieces(t, content, 1+int(random.Uint64()%100_000))
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = packed
			}
			if !bytes.Equal(packed, first) {
				t.Errorf("%d bytes: other bytes with %d processors", size, processors)
			}
		}
		r, err := zstd.NewReader(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		r.Close()
	}
}

func inPieces(t *testing.T, content []byte, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	f, err := newFrames(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for len(content) > 0 {
		n := min(size, len(content))
		if wrote, err := f.Write(content[:n]); wrote != n || err != nil {
			t.Fatal(wrote, err)
		}
		content = content[n:]
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// TestFramesOfFailedWriter: the error of a disk that is full is said, at the latest when the
// stream is closed, and nobody waits for ever.
func TestFramesOfFailedWriter(t *testing.T) {
	full := errors.New("no space left on device")
	f, err := newFrames(failing{full})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * mostFrames {
		if _, err = f.Write(make([]byte, frameSize)); err != nil {
			break
		}
	}
	if closed := f.Close(); !errors.Is(closed, full) {
		t.Errorf("closed with %v", closed)
	}
	if err != nil && !errors.Is(err, full) {
		t.Errorf("wrote with %v", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

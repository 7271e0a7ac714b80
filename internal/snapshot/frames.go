package snapshot

import (
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// frameSize is how much of what is written goes into a frame of zstd: as far as a compressor
// looks back.
const frameSize = 1 << 20

// mostFrames bounds the frames that are packed at the same time, and with them the memory.
const mostFrames = 4

// frames writes a zstd stream of frames that know nothing of each other, so that each can be
// packed beside the others: finding what repeats is what there is to wait for. Where a frame ends
// depends on nothing but the content. It has to be closed, and belongs to one goroutine.
type frames struct {
	pack *zstd.Encoder
	// filling is the frame that is being gathered; nil for none.
	filling *frame
	// packing are those under way, in their order.
	packing chan *frame
	free    sync.Pool
	// failed is closed when writing has failed, with err, done when nothing goes on any more.
	failed, done chan struct{}
	err          error
}

// frame is a part of the stream.
type frame struct {
	content, packed []byte
	// ready has a token when it is packed.
	ready chan struct{}
}

func newFrames(w io.Writer) (*frames, error) {
	atOnce := min(runtime.GOMAXPROCS(0), mostFrames)
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(atOnce), zstd.WithWindowSize(frameSize))
	if err != nil {
		return nil, err
	}
	f := &frames{pack: pack, packing: make(chan *frame, atOnce), failed: make(chan struct{}), done: make(chan struct{})}
	f.free.New = func() any { return &frame{content: make([]byte, 0, frameSize), ready: make(chan struct{}, 1)} }
	go f.run(w)
	return f, nil
}

// run writes the frames in their order.
func (f *frames) run(w io.Writer) {
	defer close(f.done)
	for one := range f.packing {
		<-one.ready
		if f.err == nil {
			if _, f.err = w.Write(one.packed); f.err != nil {
				close(f.failed)
			}
		}
		one.content, one.packed = one.content[:0], one.packed[:0]
		f.free.Put(one)
	}
}

// Write gathers; what fills a frame is packed beside.
func (f *frames) Write(p []byte) (int, error) {
	select {
	case <-f.failed:
		return 0, f.err
	default:
	}
	n := len(p)
	for len(p) > 0 {
		if f.filling == nil {
			f.filling, _ = f.free.Get().(*frame)
		}
		part := min(len(p), frameSize-len(f.filling.content))
		f.filling.content, p = append(f.filling.content, p[:part]...), p[part:]
		if len(f.filling.content) == frameSize {
			f.begin()
		}
	}
	return n, nil
}

// begin packs what was gathered.
func (f *frames) begin() {
	one := f.filling
	f.filling = nil
	f.packing <- one
	go func() {
		one.packed = f.pack.EncodeAll(one.content, one.packed)
		one.ready <- struct{}{}
	}()
}

// Close writes the last frame, and returns what went wrong.
func (f *frames) Close() error {
	if f.filling != nil {
		f.begin()
	}
	close(f.packing)
	<-f.done
	return f.err
}

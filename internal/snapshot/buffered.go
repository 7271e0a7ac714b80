package snapshot

import (
	"bufio"
	"io"
	"sync"
)

// buffered is a reader with a pooled buffer: most files are smaller than it.
type buffered struct{ *bufio.Reader }

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

func newBuffered(content io.Reader) buffered {
	b := buffered{readers.Get().(*bufio.Reader)}
	b.Reset(content)
	return b
}

// release returns the buffer to the pool. The reader must not be used afterwards.
func (b buffered) release() {
	b.Reset(nil)
	readers.Put(b.Reader)
}

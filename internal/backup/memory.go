package backup

import "fmt"

// Memory is called before more is held. It returns an error if that many more bytes would be too
// much; objects is the number of entries and journal lines held so far. A nil Memory allows
// everything.
type Memory func(bytes int64, objects int) error

// holding counts what is held in memory of a backup.
type holding struct {
	memory  Memory
	objects int
	// pending are bytes that memory was not asked for yet.
	pending int64
}

// askEach is the number of bytes held between two calls of Memory, which take time.
const askEach = 256 << 10

// entrySize is the memory of an entry or a journal line in addition to its text, in bytes.
const entrySize = 512

// hold accounts for an entry or a journal line of so many bytes, and fails if that is too much.
// where and n name its position in the error.
func (h *holding) hold(bytes int, where string, n int) error {
	h.objects++
	return h.add(bytes, where, n)
}

// add is hold for text that is not counted as an object.
func (h *holding) add(bytes int, where string, n int) error {
	h.pending += int64(bytes) + entrySize
	if h.pending < askEach {
		return nil
	}
	return h.ask(where, n)
}

func (h *holding) ask(where string, n int) error {
	if h.memory == nil {
		return nil
	}
	if err := h.memory(h.pending, h.objects); err != nil {
		return fmt.Errorf("%s, number %d: %w", where, n, err)
	}
	h.pending = 0
	return nil
}

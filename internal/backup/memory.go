package backup

import "fmt"

// Memory is asked before more is held: an error if so many bytes more are too much,
// beside objects and lines of journals that are held already. Nil allows everything.
type Memory func(bytes int64, objects int) error

// holding is the account of what is held of a backup.
type holding struct {
	memory  Memory
	objects int
	// pending are bytes that nobody was asked about yet.
	pending int64
}

// askEach is how much is held before somebody is asked: asking takes time.
const askEach = 256 << 10

// entrySize is what is held of an entry or a line of the journal beside its text.
const entrySize = 512

// hold is an error if an entry or a line of so many bytes is too much. Where and n say where it
// stands.
func (h *holding) hold(bytes int, where string, n int) error {
	h.objects++
	return h.add(bytes, where, n)
}

// add is hold for what does not count as an object.
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

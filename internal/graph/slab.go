package graph

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
	chunkMask = chunkSize - 1
)

// slab allocates numbered slots of T that never move. It grows in chunks, without copying. Slot 0
// is never allocated.
type slab[T any] struct {
	chunks []*[chunkSize]T
	next   uint32
	free   []uint32
}

func (s *slab[T]) at(i uint32) *T { return &s.chunks[i>>chunkBits][i&chunkMask] }

func (s *slab[T]) take() uint32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	if s.next == 0 {
		s.next = 1
	}
	i := s.next
	if int(i>>chunkBits) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]T))
	}
	s.next++
	return i
}

func (s *slab[T]) release(i uint32) {
	var zero T
	*s.at(i) = zero
	s.free = append(s.free, i)
}

package plan

// records is a list of steps that grows without copying.
type records struct{ chunks [][]record }

const recordChunk = 1 << 14

func (l *records) add(r record) {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == recordChunk {
		size := recordChunk
		if last < 0 {
			size = 0
		}
		l.chunks = append(l.chunks, make([]record, 0, size))
		last++
	}
	l.chunks[last] = append(l.chunks[last], r)
}

func (l *records) len() int {
	if len(l.chunks) == 0 {
		return 0
	}
	return (len(l.chunks)-1)*recordChunk + len(l.chunks[len(l.chunks)-1])
}

// all calls yield with the number of each step, from 1, and the step.
func (l *records) all(yield func(int, *record) bool) {
	n := 0
	for _, c := range l.chunks {
		for i := range c {
			n++
			if !yield(n, &c[i]) {
				return
			}
		}
	}
}

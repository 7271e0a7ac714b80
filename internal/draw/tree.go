package draw

// tree lists each figure once, below the owner that controls it. Cycles are broken at their first
// figure.
type tree struct {
	// order lists every owner before its dependents.
	order []int
	// above is the parent of each figure, or -1; depth is the number of its ancestors.
	above, depth []int
}

func (f *figures) tree() *tree {
	n := len(f.list)
	t := &tree{order: make([]int, 0, n), above: make([]int, n), depth: make([]int, n)}
	for i := range t.above {
		t.above[i] = -1
	}
	for _, l := range f.lines {
		// Lines are sorted, controllers first.
		if t.above[l.dependent] < 0 && l.owner != l.dependent {
			t.above[l.dependent] = l.owner
		}
	}
	starts, below := t.below()
	listed := make([]bool, n)
	var left []int
	list := func(root int) {
		for left = append(left[:0], root); len(left) > 0; {
			i := left[len(left)-1]
			left = left[:len(left)-1]
			if listed[i] {
				continue
			}
			listed[i] = true
			if i != root {
				t.depth[i] = t.depth[t.above[i]] + 1
			}
			t.order = append(t.order, i)
			for k := starts[i+1] - 1; k >= starts[i]; k-- {
				left = append(left, below[k])
			}
		}
	}
	for i := range n {
		if t.above[i] < 0 {
			list(i)
		}
	}
	for i := range n {
		if !listed[i] {
			t.above[i] = -1
			list(i)
		}
	}
	return t
}

// below groups the figures by parent: those of i are list[starts[i]:starts[i+1]].
func (t *tree) below() (starts, list []int) {
	starts = make([]int, len(t.above)+1)
	for _, up := range t.above {
		if up >= 0 {
			starts[up+1]++
		}
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	list = make([]int, starts[len(starts)-1])
	next := append([]int(nil), starts...)
	for i, up := range t.above {
		if up >= 0 {
			list[next[up]] = i
			next[up]++
		}
	}
	return starts, list
}

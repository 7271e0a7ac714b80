package risk

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// dominance is the tree of dominators of the owner graph of the settled objects: above
// an object stands who has to go for it to go. Objects that own one another in a circle
// count as one. At the top stands nobody: who has no owners goes only when he is
// deleted.
type dominance struct {
	// circle is the number of the circle that an object is in, from 1, owners first; 0
	// for an object that is not settled.
	circle []int
	// above and depth are those of circles in the tree; tolls those of all below it.
	above, depth []int
	tolls        []report.Toll
	// contains tells whether a circle or one below it has a container.
	contains []bool
}

// follows tells whether a container may go with the object.
func (d *dominance) follows(i int) bool { return d.contains[d.circle[i]] }

func (d *dominance) toll(i int) report.Toll { return d.tolls[d.circle[i]] }

func dominate(c *ceilings) *dominance {
	f := findCircles(c)
	d := &dominance{
		circle: f.circle, above: make([]int, f.circles+1), depth: make([]int, f.circles+1),
		tolls: make([]report.Toll, f.circles+1), contains: make([]bool, f.circles+1),
	}
	members := make([][]int, f.circles+1)
	for i, n := range d.circle {
		if n > 0 {
			members[n] = append(members[n], i)
		}
	}
	for n := 1; n <= f.circles; n++ {
		d.place(n, members[n], f.owners)
	}
	for n := f.circles; n > 0; n-- {
		for _, i := range members[n] {
			add(&d.tolls[n], c.own[i])
			for _, g := range c.touched[i] {
				add(&d.tolls[n], c.tolls[g])
			}
			d.contains[n] = d.contains[n] || c.contains(c.objects[i])
		}
		add(&d.tolls[d.above[n]], d.tolls[n])
		d.contains[d.above[n]] = d.contains[d.above[n]] || d.contains[n]
	}
	return d
}

// place puts a circle below whoever stands above all of its owners.
func (d *dominance) place(n int, members []int, owners func(int) []int) {
	above := -1
	for _, i := range members {
		for _, owner := range owners(i) {
			if o := d.circle[owner]; o != n {
				above = d.meet(above, o)
			}
		}
	}
	if above > 0 {
		d.above[n] = above
	}
	d.depth[n] = d.depth[d.above[n]] + 1
}

// meet is the lowest circle above both, or one of them; a negative one is none yet.
func (d *dominance) meet(a, b int) int {
	if a < 0 {
		return b
	}
	for a != b {
		if d.depth[a] < d.depth[b] {
			a, b = b, a
		}
		a = d.above[a]
	}
	return a
}

// circles are found with Tarjan's algorithm, without recursion: a chain of a million
// owners must not overflow the stack.
type circles struct {
	*ceilings
	circle, number, low []int
	onStack             []bool
	stack               []int
	met, circles        int
}

type frame struct {
	i      int
	owners []int
	next   int
}

func findCircles(c *ceilings) *circles {
	n := len(c.objects)
	f := &circles{ceilings: c, circle: make([]int, n), number: make([]int, n), low: make([]int, n), onStack: make([]bool, n)}
	for i, o := range c.objects {
		if f.number[i] == 0 && c.reach.Settled(o) {
			f.from(i)
		}
	}
	return f
}

// owners are the owners of a settled object; they are settled, too.
func (f *circles) owners(i int) []int {
	var owners []int
	for _, o := range f.reach.Owners(f.objects[i]) {
		owners = append(owners, f.index[o])
	}
	return owners
}

func (f *circles) from(root int) {
	frames := []frame{f.enter(root)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if top.next < len(top.owners) {
			owner := top.owners[top.next]
			top.next++
			if f.number[owner] == 0 {
				frames = append(frames, f.enter(owner))
			} else if f.onStack[owner] {
				f.low[top.i] = min(f.low[top.i], f.number[owner])
			}
			continue
		}
		i := top.i
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			below := frames[len(frames)-1].i
			f.low[below] = min(f.low[below], f.low[i])
		}
		if f.low[i] == f.number[i] {
			f.leave(i)
		}
	}
}

func (f *circles) enter(i int) frame {
	f.met++
	f.number[i], f.low[i] = f.met, f.met
	f.onStack[i] = true
	f.stack = append(f.stack, i)
	return frame{i: i, owners: f.owners(i)}
}

func (f *circles) leave(i int) {
	f.circles++
	for {
		top := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.onStack[top] = false
		f.circle[top] = f.circles
		if top == i {
			return
		}
	}
}

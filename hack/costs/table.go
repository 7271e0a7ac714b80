package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

// cost is what one process took.
type cost struct {
	ran             bool
	processor, wall time.Duration
	peak, printed   int64
	// over tells that the process was given up.
	over   bool
	failed string
}

// String is for whoever watches.
func (c cost) String() string {
	switch {
	case c.over:
		return "given up"
	case c.failed != "":
		return "failed: " + c.failed
	}
	return fmt.Sprintf("processor %.2f s, wall %.2f s, %d MB, printed %.1f MB", c.processor.Seconds(), c.wall.Seconds(), c.peak>>20, float64(c.printed)/1e6)
}

// table is what all commands cost on one shape.
type table struct {
	shape    shapes.Shape
	sizes    []int
	objects  []int
	commands []string
	cells    map[string][]cost
}

func newTable(shape shapes.Shape, sizes []int) *table {
	return &table{shape: shape, sizes: sizes, objects: make([]int, len(sizes)), cells: map[string][]cost{}}
}

// row is the row of a command, the at-th one: of each size it names other objects.
func (t *table) row(at int, command []string) []cost {
	key := fmt.Sprintf("%d", at)
	if _, ok := t.cells[key]; !ok {
		t.commands = append(t.commands, key+" "+strings.Join(command, " "))
		t.cells[key] = make([]cost, len(t.sizes))
	}
	return t.cells[key]
}

// write writes the table as Markdown: of each size processor time, time and memory, and how
// the processor time of an object grows from the first to the last size.
func (t *table) write(w io.Writer, timeout time.Duration) {
	fmt.Fprintf(w, "\n### %s\n\n%s.\n\n| |", t.shape.Name, strings.ToUpper(t.shape.Has[:1])+t.shape.Has[1:])
	for _, n := range t.objects {
		fmt.Fprintf(w, " %d objects: processor, time, memory | an object |", n)
	}
	fmt.Fprintf(w, " growth |\n|---|%s---|\n", strings.Repeat("---|---|", len(t.sizes)))
	for _, command := range t.commands {
		key, words, _ := strings.Cut(command, " ")
		fmt.Fprintf(w, "| `%s` |", strings.TrimSpace(words))
		for i, c := range t.cells[key] {
			switch {
			case !c.ran:
				fmt.Fprint(w, " – | |")
			case c.over:
				fmt.Fprintf(w, " > %.0f s | |", timeout.Seconds())
			case c.failed != "":
				fmt.Fprint(w, " failed | |")
			default:
				fmt.Fprintf(w, " %.2f s, %.2f s, %d MB | %.1f µs |", c.processor.Seconds(), c.wall.Seconds(), c.peak>>20, t.each(key, i))
			}
		}
		fmt.Fprintf(w, " %s |\n", t.growth(key))
	}
}

// each is the processor time of an object, in microseconds.
func (t *table) each(key string, i int) float64 {
	return float64(t.cells[key][i].processor.Microseconds()) / float64(t.objects[i])
}

// growth is how many times more an object costs in the largest cluster than in the smallest.
func (t *table) growth(key string) string {
	cells := t.cells[key]
	for _, c := range cells {
		if c.over {
			return "too much"
		}
		if !c.ran || c.failed != "" {
			return ""
		}
	}
	return fmt.Sprintf("%.2f", t.each(key, len(cells)-1)/t.each(key, 0))
}

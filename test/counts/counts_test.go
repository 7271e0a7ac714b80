package counts

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

const (
	small, large = 2_000, 8_000
	// most is how many times more statements an object may take in the large cluster.
	most = 1.5
	// A block has grown when an object takes so many times more of it in the large cluster,
	// and at least so many statements. What is done for each pair of objects grows four times;
	// what is done for no fewer than so many objects may grow by chance.
	grown, counted = 2.5, 10
)

// TestCounts runs every command on a cluster of each shape in two sizes.
func TestCounts(t *testing.T) {
	for _, shape := range shapes.All() {
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			tryShape(t, shape)
		})
	}
}

func tryShape(t *testing.T, shape shapes.Shape) {
	from := sources{}
	dir := t.TempDir()
	few, fewFile := written(t, dir, shape, small)
	many, manyFile := written(t, dir, shape, large)
	commands := many.Commands()
	for i, command := range few.Commands() {
		what := shape.Name + ": " + label(command)
		before := each(executed(t, command, fewFile), len(few.Objects))
		after := each(executed(t, commands[i], manyFile), len(many.Objects))
		was, is := sum(before), sum(after)
		t.Logf("%s: %.0f and %.0f statements an object", what, was, is)
		var wrong []string
		if is > most*was {
			wrong = append(wrong, fmt.Sprintf("%.0f statements for each object, and of %d objects %.0f", is, small, was))
		}
		for _, g := range growing(before, after) {
			name, line := from.function(t, g.block)
			wrong = append(wrong, fmt.Sprintf("%.0f, and of %d objects %.0f, at %s in %s", g.after, small, g.before, line, name))
		}
		if len(wrong) > 0 {
			t.Errorf("%s: of %d objects, there are executed\n\t%s", what, large, strings.Join(wrong, "\n\t"))
		}
	}
}

// label is a command without the names of objects, which are others in a larger cluster.
func label(command []string) string {
	var words []string
	for i, word := range command {
		if word == "-n" || i > 0 && command[i-1] == "-n" || word == "" {
			continue
		}
		word, _, _ = strings.Cut(word, "/")
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// written writes a cluster to a file.
func written(t *testing.T, dir string, shape shapes.Shape, n int) (c *shapes.Cluster, file string) {
	t.Helper()
	c = shape.Cluster(n, 1)
	file = filepath.Join(dir, fmt.Sprintf("%d.zst", n))
	if err := c.Save(file); err != nil {
		t.Fatal(err)
	}
	return c, file
}

// each are the counts for each of so many objects.
func each(c counts, objects int) map[string]float64 {
	m := make(map[string]float64, len(c))
	for block, count := range c {
		m[block] = float64(count) / float64(objects)
	}
	return m
}

func sum(m map[string]float64) float64 {
	total := 0.0
	for _, x := range m {
		total += x
	}
	return total
}

// growth is a block of which an object takes more where there are more of them.
type growth struct {
	block         string
	before, after float64
}

// growing lists the blocks that have grown, the most frequent one first.
func growing(before, after map[string]float64) []growth {
	var list []growth
	for block, x := range after {
		if x >= counted && x > grown*before[block] {
			list = append(list, growth{block, before[block], x})
		}
	}
	slices.SortFunc(list, func(a, b growth) int {
		return cmp.Or(cmp.Compare(b.after, a.after), cmp.Compare(a.block, b.block))
	})
	return list
}

// TestGrowing: what is done for each pair of objects is found, what is done for each object
// and a logarithm more is not.
func TestGrowing(t *testing.T) {
	block := func(few, many int) []growth {
		return growing(each(counts{"f.go:1.1,2.2": few}, small), each(counts{"f.go:1.1,2.2": many}, large))
	}
	if list := block(small*small/100, large*large/100); len(list) != 1 || list[0].before != 20 || list[0].after != 80 {
		t.Errorf("what is done for each pair of objects: %v", list)
	}
	if list := block(small*11, large*13); len(list) != 0 {
		t.Errorf("what is done for each object, and a logarithm more: %v", list)
	}
}

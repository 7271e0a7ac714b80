package differential

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// crowd is how many definitions may be held by their instances at a time. The API
// server has five workers for them, and each waits for a minute.
const crowd = 4

// portions cuts a list of stories into batches of at most size, in none of which too
// many definitions are held by their instances.
func portions(ctx context.Context, stories []story, size int) ([][]story, error) {
	held := make([]int, len(stories))
	for i, s := range stories {
		var err error
		if held[i], err = heldDefinitions(ctx, s); err != nil {
			return nil, err
		}
	}
	var batches [][]story
	left := make([]int, len(stories))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		var batch []story
		var later []int
		crowded := 0
		for _, i := range left {
			if n := held[i]; len(batch) < size && (crowded+n <= crowd || len(batch) == 0) {
				batch, crowded = append(batch, stories[i]), crowded+n
				continue
			}
			later = append(later, i)
		}
		batches, left = append(batches, batch), later
	}
	return batches, nil
}

// heldDefinitions counts the definitions that the first thing that users do leaves
// waiting for instances.
func heldDefinitions(ctx context.Context, s story) (int, error) {
	var first []scenario.Act
	if len(s.phases) > 0 {
		first = s.phases[0]
	}
	f, err := foretell(ctx, s.objects, platform{Resources: scenario.Resources()}, first, 0)
	if err != nil {
		return 0, fmt.Errorf("seed %d: %w", s.seed, err)
	}
	n := 0
	for _, line := range f.state {
		if strings.Contains(line, definitionClean) && strings.HasSuffix(line, " terminating") {
			n++
		}
	}
	return n, nil
}

package engine

import "github.com/kubectl-gc/kubectl-gc/internal/graph"

// lookahead touches the next nodes of the queue in batches, as a prefetch. In a graph of a million
// nodes most of an attempt's memory is in no CPU cache. One after the other, each miss stalls; in a
// batch, the misses overlap.
type lookahead struct {
	// left is the number of prefetched nodes that were not returned yet.
	left int
	// seen keeps the compiler from removing the reads.
	seen int
}

// next must be called before the first waiting node is taken.
func (l *lookahead) next(g *graph.Graph, waiting []graph.ID) {
	if l.left == 0 {
		l.left = min(len(waiting), graph.LookedAt)
		l.seen += g.Look(waiting[:l.left])
	}
	l.left--
}

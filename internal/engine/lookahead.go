package engine

import "github.com/kubectl-gc/kubectl-gc/internal/graph"

// lookahead looks at nodes before their turn, several at once. In a graph of a million most of what
// an attempt is about is in no cache of the processor, and it would wait for one thing after the
// other; of several nodes it waits for all at the same time.
type lookahead struct {
	// left is how many of the nodes that were looked at are still to come.
	left int
	// seen keeps the compiler from leaving the looks out.
	seen int
}

// next is called before the first of the waiting nodes is handed out.
func (l *lookahead) next(g *graph.Graph, waiting []graph.ID) {
	if l.left == 0 {
		l.left = min(len(waiting), graph.LookedAt)
		l.seen += g.Look(waiting[:l.left])
	}
	l.left--
}

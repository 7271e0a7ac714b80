package render

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// trouble is the most important problem of a vertex.
type trouble uint8

const (
	noTrouble trouble = iota
	terminating
	absent
	withoutOwner
	dangling
	blocking
	unready
	unseen
	troubles
)

// troubleOf returns the problem of a vertex.
func (t *tree) troubleOf(i int) trouble {
	n := &t.nodes[i]
	if n.BeingDeleted || n.WaitingForDependents {
		return terminating
	}
	switch t.absence(i) {
	case "":
	case t.unseen:
		return unseen
	default:
		return absent
	}
	lost, blocks := 0, false
	for _, l := range t.owners[i] {
		if l.edge.Class == report.Dangling {
			lost++
		}
		blocks = blocks || l.edge.BlockOwnerDeletion && t.nodes[l.to].WaitingForDependents
	}
	switch {
	case lost > 0 && lost == len(t.owners[i]):
		return withoutOwner
	case lost > 0:
		return dangling
	case blocks:
		return blocking
	case t.printed[n.Ref.UID].Unready():
		return unready
	}
	return noTrouble
}

// troubleCounts counts vertices by problem.
type troubleCounts [troubles]int

// words returns "3 Terminating, 12 not ready"; nil without problems.
func (c *troubleCounts) words(unseenText string) []string {
	var words []string
	for kind, text := range [troubles]string{
		terminating: "Terminating", absent: "absent", withoutOwner: "without an owner that exists", dangling: "with a dangling reference",
		blocking: "blocking", unready: "not ready", unseen: unseenText,
	} {
		if n := c[kind]; n > 0 && trouble(kind) != noTrouble {
			words = append(words, strconv.Itoa(n)+" "+text)
		}
	}
	return words
}

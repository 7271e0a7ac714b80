package kube

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// fewByName is of how many objects of a place each is asked for by its name; more of them are
// listed.
const fewByName = 8

// before fills in what objects were when the past begins, where their first change does not
// tell: a watch shows what a write has left, and not what it has changed. What the server has
// forgotten stays unknown.
func (c *Client) before(ctx context.Context, at Place, from uint64, changes []history.Change) {
	first := map[object.Ref]*history.Change{}
	seen := map[object.Ref]bool{}
	for i := range changes {
		ch := &changes[i]
		if !seen[ch.Object.Ref] && ch.Type == object.Modified && ch.Old == nil {
			first[ch.Object.Ref] = ch
		}
		seen[ch.Object.Ref] = true
	}
	if len(first) > fewByName {
		then, _, err := c.listAt(ctx, at, from)
		if err != nil {
			return
		}
		for _, o := range then {
			if ch := first[o.Ref]; ch != nil {
				ch.Old = o
			}
		}
		return
	}
	var tasks []func()
	for ref, ch := range first {
		tasks = append(tasks, func() {
			if o, err := c.stateAt(ctx, at, ref, from); err == nil {
				ch.Old = o
			}
		})
	}
	besides(tasks)
}

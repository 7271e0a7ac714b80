package kube

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// before fills in the states of objects at the beginning of the past if their first change does not
// show them: a watch sends the result of a write, not the previous state. If it fails, some states
// stay unknown.
func (rd *pastReader) before(ctx context.Context, at Place, from uint64, changes []history.Change) error {
	var first []*history.Change
	var refs []object.Ref
	seen := map[object.Ref]bool{}
	for i := range changes {
		ch := &changes[i]
		if !seen[ch.Object.Ref] && ch.Type == object.Modified && ch.Old == nil {
			first, refs = append(first, ch), append(refs, ch.Object.Ref)
		}
		seen[ch.Object.Ref] = true
	}
	if len(refs) == 0 {
		return nil
	}
	then, err := rd.states(ctx, at, refs, from)
	for _, ch := range first {
		if o := then.of(ch.Object.Ref); o != nil && o.UID == ch.Object.UID {
			ch.Old = o
		}
	}
	return err
}

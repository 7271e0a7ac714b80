package backup

import (
	"context"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// bodyReader reads whole objects, as a history.Record does.
type bodyReader interface {
	Bodies(ctx context.Context, of history.Collection, take func(raw []byte) error) error
}

// Living reads the present state of the cluster that losses are restored to. Its collections have
// revision 0.
type Living interface {
	bodyReader
	// Dependents returns the existing objects that refer to one of the owners or to any object of
	// the kinds, and the number of the latter.
	Dependents(ctx context.Context, owners []object.Ref, kinds []schema.GroupKind) (refs []object.Ref, ofKinds int, err error)
}

// keepLiving keeps existing objects that refer to deleted ones. The garbage collector has not
// processed them yet, or cannot while the CRD of their owner is missing. It deletes them as soon as
// it can, because a recreated owner has another UID. With the backup, an undo can point their
// references to the new owner, or recreate them if the collector was faster.
func (k *keeper) keepLiving(l Losses) (ofKinds int, err error) {
	if l.Living == nil || len(k.owners)+len(l.Kinds) == 0 {
		return 0, nil
	}
	refs, ofKinds, err := l.Living.Dependents(k.ctx, k.owners, l.Kinds)
	if err != nil {
		return 0, err
	}
	pages := map[history.Collection]*page{}
	for _, ref := range refs {
		of := history.Collection{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace}
		if pages[of] == nil {
			pages[of] = &page{of: of, wanted: map[types.UID]wanted{}}
		}
		pages[of].wanted[ref.UID] = wanted{ref: ref, action: Changed}
	}
	for _, p := range inOrder(maps.Values(pages)) {
		err = errors.Join(err, k.readPage(l.Living, p))
	}
	return ofKinds, err
}

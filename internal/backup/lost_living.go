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

// bodyReader hands over whole objects, as a history.Record does.
type bodyReader interface {
	Bodies(ctx context.Context, of history.Collection, take func(raw []byte) error) error
}

// Living is the cluster to which losses are given back, as it is now: at revision 0.
type Living interface {
	bodyReader
	// Dependents are the objects that are there and refer to one of the owners, or to any object
	// of these kinds; of those of the kinds also how many they are.
	Dependents(ctx context.Context, owners []object.Ref, kinds []schema.GroupKind) (refs []object.Ref, ofKinds int, err error)
}

// keepLiving keeps what is still there and refers to what is gone. The garbage collector has not
// come to it yet, or cannot, while the CRD of its owner is gone. It takes all of it as soon as it
// can: an owner that is made again has another uid. In the backup it gets the references to that
// one, and is not lost if the collector is quicker.
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

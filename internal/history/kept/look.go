package kept

import (
	"hash/fnv"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// look is what has to be remembered of an object to tell whether a write has changed what is kept
// of it.
func look(o *object.Object) seen {
	version, _ := strconv.ParseUint(o.ResourceVersion, 10, 64)
	s := snapshot.StoreObject(withVersion(o, ""))
	marks := struct {
		Deleted    int64                   `json:"deleted"`
		Finalizers []string                `json:"finalizers"`
		Owners     []object.OwnerReference `json:"owners"`
	}{o.DeletionTimestamp(), o.Finalizers(), o.Owners}
	return seen{version: version, looks: hashOf(s), marks: hashOf(marks)}
}

func hashOf(v any) uint64 {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	return h.Sum64()
}

package manifest

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// build returns the object that was read, without kind and facts. Name, UID and resourceVersion
// share one allocation.
func (rd *reading) build(it *item) *object.Object {
	n, u, v := it.bytes(it.name), it.bytes(it.uid), it.bytes(it.version)
	from := len(it.text)
	it.text = append(append(append(it.text, n...), u...), v...)
	own := string(it.text[from:])
	o := &object.Object{
		ResourceVersion: own[len(n)+len(u):],
		Owners:          rd.owners(it),
		Labels:          rd.in.labels(it),
		Created:         it.created,
		Generation:      it.generation,
	}
	o.Name, o.UID = own[:len(n)], types.UID(own[len(n):len(n)+len(u)])
	if o.Namespace = rd.in.Bytes(it.bytes(it.namespace)); o.Namespace == "" {
		o.Namespace = rd.o.Namespace
	}
	o.Lifecycle = rd.lifecycle(it)
	return o
}

// labels returns the canonical form of the labels. The lexer has checked that they have no
// duplicates and no NUL.
func (in *Interner) labels(it *item) object.Labels {
	if len(it.labels) == 0 {
		return ""
	}
	from := len(it.text)
	for _, l := range it.labels {
		it.text = append(append(it.text, it.bytes(l.key)...), 0)
		it.text = append(append(it.text, it.bytes(l.value)...), 0)
	}
	return object.Labels(in.Bytes(it.text[from:]))
}

// sortLabels sorts the labels by key and returns a duplicate key, if any.
func (it *item) sortLabels() (twice []byte) {
	compare := func(a, b labelSpans) int { return bytes.Compare(it.bytes(a.key), it.bytes(b.key)) }
	if !slices.IsSortedFunc(it.labels, compare) {
		slices.SortFunc(it.labels, compare)
	}
	for i := 1; i < len(it.labels); i++ {
		if compare(it.labels[i-1], it.labels[i]) == 0 {
			return it.bytes(it.labels[i].key)
		}
	}
	return nil
}

// owners returns the owner references that were read.
func (rd *reading) owners(it *item) []object.OwnerReference {
	rd.ownersRead = rd.ownersRead[:0]
	for _, o := range it.owners {
		rd.ownersRead = append(rd.ownersRead, Owner{
			APIVersion: it.bytes(o.apiVersion), Kind: it.bytes(o.kind), Name: it.bytes(o.name), UID: it.bytes(o.uid),
			Controller: o.controller, Block: o.block,
		})
	}
	return rd.in.Owners(rd.ownersRead)
}

// lifecycle returns the Lifecycle that was read, without facts.
func (rd *reading) lifecycle(it *item) *object.Lifecycle {
	rd.finalizersRead = rd.finalizersRead[:0]
	for _, f := range it.finalizers {
		rd.finalizersRead = append(rd.finalizersRead, it.bytes(f))
	}
	return rd.in.Lifecycle(&Lifecycle{
		Finalizers: rd.finalizersRead, Deleted: it.deleted, Grace: it.grace, HasGrace: it.seen&hasGraceValue != 0,
		Protection: it.protection, Revision: it.revision,
	})
}

// setFacts adds the facts that were read to o.
func (in *Interner) setFacts(o *object.Object, k *factKind, it *item) {
	if k.facts == nil {
		return
	}
	it.facts.pod.Mirror = it.seen&hasMirror != 0
	var key []byte
	if k.alike != nil {
		key = k.alike(&it.facts)
	}
	o.Lifecycle = in.WithFacts(o.Lifecycle, key, func() object.Facts { return k.facts(&it.facts, o) })
}

package manifest

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rareKey is what the Rare of an object without deletion consists of.
type rareKey struct {
	finalizers string
	facts      string
	protection object.Protection
	revision   uint32
}

// build makes the object that was read, without kind and facts. Name, UID and
// resourceVersion share one allocation.
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
	o.Rare = rd.in.rare(it)
	return o
}

// labels returns the canonical form of the labels that were read. The lexer has
// made sure that none is there twice and none has a NUL.
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

// sortLabels orders the labels by key and returns a key that is there twice.
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

// rare returns the finalizers, the protection and the deletion that were read;
// nil for none of them.
func (in *Interner) rare(it *item) *object.Rare {
	finalizers, key := in.finalizers(it)
	if it.deleted == 0 && it.seen&hasGraceValue == 0 {
		if key == "" && it.protection == 0 && it.revision == 0 {
			return nil
		}
		return in.shared(rareKey{finalizers: key, protection: it.protection, revision: it.revision}, finalizers)
	}
	r := &object.Rare{Finalizers: finalizers, DeletionTimestamp: it.deleted, Protection: it.protection, Revision: it.revision}
	if it.seen&hasGraceValue != 0 {
		r.GracePeriod = in.number(it.grace)
	}
	return r
}

// finalizers returns the one copy of the list of finalizers that was read, and
// its key.
func (in *Interner) finalizers(it *item) ([]string, string) {
	if len(it.finalizers) == 0 {
		return nil, ""
	}
	from := len(it.text)
	for _, f := range it.finalizers {
		it.text = append(append(it.text, it.bytes(f)...), 0)
	}
	key := in.Bytes(it.text[from:])
	list, ok := in.lists[key]
	if !ok {
		for _, f := range it.finalizers {
			list = append(list, in.Bytes(it.bytes(f)))
		}
		in.lists[key] = list
	}
	return list, key
}

// number returns the one copy of n.
func (in *Interner) number(n int64) *int64 {
	p, ok := in.numbers[n]
	if !ok {
		p = new(n)
		in.numbers[n] = p
	}
	return p
}

// shared returns the one Rare that has key and no facts.
func (in *Interner) shared(key rareKey, finalizers []string) *object.Rare {
	r, ok := in.rares[key]
	if !ok {
		r = &object.Rare{Finalizers: finalizers, Protection: key.protection, Revision: key.revision}
		in.rares[key] = r
	}
	return r
}

// setFacts adds to o what was read of its spec and status. Objects that are alike share
// everything that is rare.
func (in *Interner) setFacts(o *object.Object, k *factKind, it *item) {
	it.facts.pod.Mirror = it.seen&hasMirror != 0
	if k.alike == nil || o.Rare != nil && (o.Rare.DeletionTimestamp != 0 || o.Rare.GracePeriod != nil) {
		in.setOwn(o, k, it)
		return
	}
	from := len(it.text)
	text, ok := k.alike(&it.facts, it.text)
	if it.text = text; !ok {
		in.setOwn(o, k, it)
		return
	}
	finalizers := joined(o.Finalizers())
	r, ok := in.rares[rareKey{finalizers, string(text[from:]), o.Protection(), o.Revision()}]
	if !ok {
		key := rareKey{finalizers, string(text[from:]), o.Protection(), o.Revision()}
		in.setOwn(o, k, it)
		r = o.Rare
		in.rares[key] = r
	}
	o.Rare = r
}

func (in *Interner) setOwn(o *object.Object, k *factKind, it *item) {
	if facts := k.facts(&it.facts, o); facts != nil {
		o.Edit().Facts = facts
	}
}

// joined is the key of a list of finalizers.
func joined(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b []byte
	for _, f := range list {
		b = append(append(b, f...), 0)
	}
	return string(b)
}

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
	pod        bool
	node       string
	phase      string
	mirror     bool
	volumes    bool
	hasGrace   bool
	grace      int64
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

// shared returns the one Rare that has key.
func (in *Interner) shared(key rareKey, finalizers []string) *object.Rare {
	r, ok := in.rares[key]
	if ok {
		return r
	}
	r = &object.Rare{Finalizers: finalizers, Protection: key.protection, Revision: key.revision}
	if key.pod {
		pod := &object.PodFacts{NodeName: key.node, Phase: key.phase, Mirror: key.mirror, VolumesKnown: key.volumes}
		if key.hasGrace {
			pod.TerminationGracePeriod = in.number(key.grace)
		}
		r.Facts = pod
	}
	in.rares[key] = r
	return r
}

// setFacts adds to o what was read of the spec and status of kind.
func (in *Interner) setFacts(o *object.Object, kind string, f *facts) {
	if kind == podKind && len(f.pod.Claims) == 0 && (o.Rare == nil || o.Rare.DeletionTimestamp == 0 && o.Rare.GracePeriod == nil) {
		key := rareKey{
			pod: true, node: f.pod.NodeName, phase: f.pod.Phase, mirror: f.pod.Mirror, volumes: f.pod.VolumesKnown,
			hasGrace: f.hasGrace, grace: f.grace, protection: o.Protection(), revision: o.Revision(),
		}
		key.finalizers = joined(o.Finalizers())
		o.Rare = in.shared(key, o.Finalizers())
		return
	}
	definition := f.finish()
	if kind == definitionKind && definition == nil || (kind == jobKind || kind == cidrKind || kind == addressKind || kind == setKind) && !f.specified || kind == claimKind && !f.stated {
		return
	}
	rare := o.Edit()
	switch kind {
	case podKind:
		pod := f.pod
		pod.Claims = f.claimsOf(o.Name)
		if f.hasGrace {
			pod.TerminationGracePeriod = in.number(f.grace)
		}
		rare.Facts = &pod
	case namespaceKind:
		rare.Facts = &object.NamespaceFacts{Phase: f.pod.Phase, Finalizers: f.finalizers}
	case definitionKind:
		rare.Facts = definition
	case jobKind:
		job := f.job
		rare.Facts = &job
	case volumeKind:
		volume := f.volume
		volume.Phase = f.pod.Phase
		rare.Facts = &volume
	case claimKind:
		claim := f.claim
		rare.Facts = &claim
	case cidrKind:
		cidr := f.cidr
		rare.Facts = &cidr
	case setKind:
		set := f.set
		rare.Facts = &set
	case addressKind:
		address := f.address
		rare.Facts = &address
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

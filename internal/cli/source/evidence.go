package source

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// bodies collects evidence from the objects of a dump while the snapshot is read.
type bodies struct {
	world evidence.World
	// had are the objects that were read with their bodies, by part.
	had map[evidence.Part]map[place]bool
	// records are the added records in order, kept if the snapshot will be written.
	records []*evidence.Record
	keep    bool
	// told are the parts with a record of how far a server has listed them. Such lists were read
	// for a snapshot, separately from its objects.
	told map[evidence.Part]bool
	// later are the objects with a record that are not in the snapshot of a cluster: see noteLater.
	later map[identity]bool
}

// identity identifies an object without its group, which may differ between sources.
type identity struct{ kind, namespace, name string }

func identityOf(ref object.Ref) identity { return identity{ref.Kind, ref.Namespace, ref.Name} }

// place is a namespace and a name.
type place struct{ namespace, name string }

func newBodies() *bodies {
	return &bodies{had: map[evidence.Part]map[place]bool{}, told: map[evidence.Part]bool{}}
}

// wants returns the fields to read from the body of an object; nil for a second copy.
func (b *bodies) wants(o *object.Object) *manifest.Fields {
	if part, ok := evidence.PartOf(o.APIVersion, o.Kind); ok && b.had[part][place{o.Namespace, o.Name}] {
		return nil
	}
	return evidence.FieldsOf(o)
}

// add reads evidence from the body of an object. An unreadable body makes its part incomplete and
// is no error.
func (b *bodies) add(o *object.Object, text []byte) error {
	if len(text) == 0 {
		b.take(evidence.Missed(o, "the dump holds an object that is too large, or of a form that cannot be read in part"))
		return nil
	}
	r, err := evidence.Read(o.APIVersion, o.Kind, text)
	b.take(r)
	if err == nil {
		b.see(o.APIVersion, o.Kind, place{o.Namespace, o.Name})
	}
	return nil
}

// line reads the evidence of an object from a line of our own snapshot.
func (b *bodies) line(text []byte) error {
	r, err := evidence.ParseLine(text)
	if err != nil {
		return err
	}
	b.take(r)
	if part, ok := r.Part(); ok {
		b.told[part], b.world.Live = true, true
	} else if r.Unread == "" {
		b.see(r.APIVersion, r.Kind, place{r.Namespace, r.Name})
	}
	return nil
}

func (b *bodies) take(r *evidence.Record) {
	b.world.Take(r)
	if b.keep {
		b.records = append(b.records, r)
	}
}

func (b *bodies) see(apiVersion, kind string, at place) {
	part, ok := evidence.PartOf(apiVersion, kind)
	if !ok {
		return
	}
	if b.had[part] == nil {
		b.had[part] = map[place]bool{}
	}
	b.had[part][at] = true
}

// seen returns the evidence of a dump; nil if none was collected.
func (b *bodies) seen(snap *snapshot.Snapshot) *evidence.World {
	if b == nil {
		return nil
	}
	return b.evidence(snap)
}

const bodiesMissing = "the dump lists objects without their spec and status"

// evidence marks how far each part was read. It is as far as a server has listed it, otherwise as
// far as the snapshot covers it and has the bodies of all its objects.
func (b *bodies) evidence(snap *snapshot.Snapshot) *evidence.World {
	lacking := b.lacking(snap)
	namespaces := sync.OnceValue(func() map[string]bool { return namespacesOf(snap) })
	for _, part := range evidence.Parts() {
		if b.told[part] {
			continue
		}
		r := evidence.ResourceOf(part)
		for ns := range lacking[part] {
			b.world.Mark(part, ns, bodiesMissing)
		}
		if snap.Covers(r, "") {
			b.world.Mark(part, "", "")
			continue
		}
		if r.Namespaced {
			for ns := range namespaces() {
				if ns != "" && snap.Covers(r, ns) {
					b.world.Mark(part, ns, "")
				}
			}
		}
		b.world.Mark(part, "", plain(snap.Why(r, "")))
	}
	return &b.world
}

func namespacesOf(snap *snapshot.Snapshot) map[string]bool {
	namespaces := map[string]bool{}
	for _, o := range snap.Objects {
		namespaces[o.Namespace] = true
	}
	return namespaces
}

// lacking returns the namespaces of objects without a body.
func (b *bodies) lacking(snap *snapshot.Snapshot) map[evidence.Part]map[string]bool {
	lacking := map[evidence.Part]map[string]bool{}
	for same := range snap.ByKind() {
		part, ok := evidence.PartOf(same[0].APIVersion, same[0].Kind)
		if !ok || part == evidence.Events { // no judgement depends on all Events
			continue
		}
		in := lacking[part]
		if in == nil {
			in = map[string]bool{}
			lacking[part] = in
		}
		had, last, marked := b.had[part], "", false // objects of a namespace are adjacent
		for _, o := range same {
			if !(marked && o.Namespace == last) && !had[place{o.Namespace, o.Name}] {
				in[o.Namespace], last, marked = true, o.Namespace, true
			}
		}
	}
	return lacking
}

// plain returns the reason of a gap without its code.
func plain(why string) string {
	if _, text, ok := strings.Cut(why, ": "); ok {
		why = text
	}
	return cmp.Or(why, evidence.NotRead)
}

// Evidence returns the evidence about what blocks the objects that are being deleted. On a live
// cluster with many of them, only some are read individually, those in asked first.
func (w World) Evidence(ctx context.Context, asked []object.Ref) (*evidence.World, error) {
	if w.Client == nil {
		return w.bodies.evidence(w.Snapshot), nil
	}
	var first, others []*object.Object
	for _, o := range w.Objects {
		switch {
		case !o.BeingDeleted():
		case slices.Contains(asked, o.Ref):
			first = append(first, o)
		default:
			others = append(others, o)
		}
	}
	return w.Client.Evidence(ctx, append(first, others...), w.Objects)
}

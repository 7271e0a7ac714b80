package source

import (
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// WithSnapshot is the world with another snapshot: what a simulation made of it.
func (w World) WithSnapshot(snap *snapshot.Snapshot) World {
	w.Snapshot = snap
	return w
}

// Write writes the snapshot with the evidence about its objects, in our own format, so that a
// command answers from the file as it does from this world.
func (w World) Write(out io.Writer, c snapshot.Compression) error {
	kept := w.bodies.about(w.Snapshot)
	return w.Snapshot.Write(out, c, snapshot.Evidence{Unread: w.bodies == nil, Lines: len(kept), Line: func(n int) ([]byte, error) { return kept[n].Line() }})
}

// about are the records about the objects of a snapshot. Of Events only warnings about what is being
// deleted are among them: nothing else of them is looked at.
func (b *bodies) about(snap *snapshot.Snapshot) []*evidence.Record {
	if b == nil {
		return nil
	}
	type identity struct{ kind, namespace, name string } // the group may have been another one in the dump
	beingDeleted, known := map[identity]bool{}, map[identity]bool{}
	for _, o := range snap.Objects {
		id := identity{o.Kind, o.Namespace, o.Name}
		known[id] = true
		if o.BeingDeleted() {
			beingDeleted[id] = true
		}
	}
	kept := make([]*evidence.Record, 0, len(b.records))
	for _, r := range b.records {
		switch {
		case len(r.Events) > 0 && len(r.Terminating) == 0:
			e := &r.Events[0]
			if e.Warning && beingDeleted[identity{e.About.Kind, e.About.Namespace, e.About.Name}] {
				kept = append(kept, r)
			}
		case known[identity{r.Kind, r.Namespace, r.Name}], r.Unread != "":
			kept = append(kept, r)
		}
	}
	return kept
}

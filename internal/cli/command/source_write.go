package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// WithSnapshot returns the input with another snapshot, such as the result of a simulation.
func (w World) WithSnapshot(snap *snapshot.Snapshot) World {
	w.Snapshot = snap
	return w
}

// Write writes the snapshot with the evidence about its objects, in our own format. Commands answer
// from the file as from w.
func (w World) Write(out io.Writer, c snapshot.Compression) error {
	kept := w.bodies.about(w.Snapshot)
	return w.Snapshot.Write(out, c, snapshot.Evidence{Unread: w.bodies == nil, Lines: len(kept), Line: func(n int) ([]byte, error) { return kept[n].Line() }})
}

// about returns the records about the objects of a snapshot, and about later objects. Of Events,
// only warnings about objects that are being deleted are used and included.
func (b *bodies) about(snap *snapshot.Snapshot) []*health.Record {
	if b == nil {
		return nil
	}
	beingDeleted, known := map[identity]bool{}, map[identity]bool{}
	for _, o := range snap.Objects {
		id := identityOf(o.Ref)
		known[id] = true
		if o.BeingDeleted() {
			beingDeleted[id] = true
		}
	}
	kept := make([]*health.Record, 0, len(b.records))
	for _, r := range b.records {
		id := identityOf(r.Ref())
		switch {
		case len(r.Events) > 0 && len(r.Terminating) == 0:
			if e := &r.Events[0]; e.Warning && beingDeleted[identityOf(e.About)] {
				kept = append(kept, r)
			}
		case known[id], b.later[id], r.Name == "", r.Unread != "", r.Absent:
			kept = append(kept, r)
		}
	}
	return kept
}

// evidenceOf reads the evidence of a cluster that is written with its snapshot.
func (s *Source) evidenceOf(c *cobra.Command, client *kube.Client, snap *snapshot.Snapshot, errOut io.Writer) (*bodies, error) {
	defer BeginStage(c, errOut, "reading what else acts in the cluster").End()
	waiting := object.Filtered(snap.Objects, func(o *object.Object) bool {
		return o.BeingDeleted() || heldByOthers(o)
	})
	b := &bodies{}
	var err error
	if b.records, err = client.Records(c.Context(), waiting, health.ReferringParts(snap)); err != nil {
		return nil, err
	}
	b.noteLater(snap)
	return b, nil
}

// noteLater records the objects with evidence that were created after the snapshot was listed, or
// are in a namespace that it leaves out. Their evidence is kept.
func (b *bodies) noteLater(snap *snapshot.Snapshot) {
	known := object.SetOf(snap.Objects, func(o *object.Object) identity { return identityOf(o.Ref) })
	b.later = map[identity]bool{}
	for _, r := range b.records {
		if id := identityOf(r.Ref()); !known[id] {
			b.later[id] = true
		}
	}
}

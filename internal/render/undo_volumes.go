package render

import (
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// waitingClaims names each PVC that waits for its volume, and what to do about it. It is written
// before the steps, since nothing else shows that the PVC is not bound.
func (w *writer) waitingClaims(u *report.Undo) {
	s := w.style
	for i := range u.Steps {
		x := &u.Steps[i]
		for _, n := range x.Notes {
			if n.Volume == nil {
				continue
			}
			waits := " waits for "
			if n.Reason == string(reason.VolumeUnknown) {
				waits = " may wait for "
			}
			text := s.where(x.Object) + waits + s.name(*n.Volume) + ": " + s.text(n.Message) + "."
			if n.Release == nil {
				w.prose(text, 2)
				continue
			}
			w.prose(text+" To release it:", 2)
			w.command("  ", *n.Release)
		}
	}
}

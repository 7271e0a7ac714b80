package snapshot

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Undiscovered lists the group versions whose resources a live server had not named
// when the snapshot was taken, in their order. Whether a dump lacks a document or the
// server could not say is not known: nothing is told of dumps.
func (s *Snapshot) Undiscovered() []object.Undiscovered {
	var list []object.Undiscovered
	for _, g := range s.Gaps {
		if g.Resource == EveryResource {
			_, why, _ := strings.Cut(g.Why, ": ")
			list = append(list, object.Undiscovered{APIVersion: g.APIVersion, Why: why, Hidden: g.Reason() == reason.Forbidden})
		}
	}
	return list
}

// Unserved reports whether the server has named the resource and answered 404 to a list
// of it, there or everywhere.
func (s *Snapshot) Unserved(r object.Resource, namespace string) bool {
	if s.missingIsAbsent {
		return false
	}
	return Gap{Why: s.Why(r, namespace)}.Reason() == reason.NotServed
}

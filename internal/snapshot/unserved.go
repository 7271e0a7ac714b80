package snapshot

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Undiscovered returns the group versions with resources that a live server had not named when the
// snapshot was taken, sorted. For dumps it returns none: it is unknown whether a document is
// missing or the server failed.
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

// Unserved reports whether the server names the resource but returned 404 to a list of it, in the
// namespace or everywhere.
func (s *Snapshot) Unserved(r object.Resource, namespace string) bool {
	if s.missingIsAbsent {
		return false
	}
	return Gap{Why: s.Why(r, namespace)}.Reason() == reason.NotServed
}

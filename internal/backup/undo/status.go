package undo

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// StatusAt is how the status of a kind is written.
type StatusAt uint8

// The ways to write a status.
const (
	// StatusUnknown: it is unknown. A server with a status subresource ignores a status in the
	// object.
	StatusUnknown StatusAt = iota
	// StatusInside: the status is written with the object.
	StatusInside
	// StatusApart: the status is written through the status subresource.
	StatusApart
)

// stripStatus decides about the status. A status that is part of the object is created with it.
// Built-in controllers recompute theirs. The writers of other statuses are unknown, so these are
// restored in a step of their own unless one was written meanwhile.
func (n *node) stripStatus(p *planning) {
	status, there := n.content["status"]
	where := p.statusAt(n)
	if where == StatusInside {
		return
	}
	delete(n.content, "status")
	fields, isMap := status.(map[string]any)
	switch {
	case !there || status == nil || isMap && len(fields) == 0:
	case !object.BuiltIn(n.Object.Group()):
		n.status = status
	case n.Object.Is(object.Job):
		n.stripped("status", reason.StartsOver)
		n.step.Notes = append(n.step.Notes, reason.StartsOver)
	default:
		n.stripped("status", reason.StatusComputed)
		n.step.Notes = append(n.step.Notes, reason.StatusComputed)
	}
}

// statusAt returns how the status of an object is written. For a kind that the plan defines, its
// CRD tells.
func (p *planning) statusAt(n *node) StatusAt {
	if d := p.definition(n); d != nil {
		versions, _ := at(d.content, "spec", "versions").([]any)
		for _, entry := range versions {
			version, _ := entry.(map[string]any)
			if n.Object.APIVersion != n.Object.Group()+"/"+textAt(version, "name") {
				continue
			}
			if _, apart := at(version, "subresources", "status").(map[string]any); apart {
				return StatusApart
			}
			return StatusInside
		}
	}
	if p.now.Status == nil {
		return StatusUnknown
	}
	return p.now.Status(n.Object.APIVersion, n.Object.Kind)
}

// definition returns the node that creates the CRD of an object; nil if none does.
func (p *planning) definition(n *node) *node {
	for _, i := range p.definitions {
		d := &p.nodes[i]
		if d.state == made && defines(d, n) {
			return d
		}
	}
	return nil
}

// defines reports whether d is the CRD of n.
func defines(d, n *node) bool {
	return d.Object.Is(object.CRD) &&
		n.Object.Group() == textAt(d.content, "spec", "group") && n.Object.Kind == textAt(d.content, "spec", "names", "kind")
}

// statusLeft plans to restore the status of an object that an earlier undo created, if that undo
// ended before it did so.
func (p *planning) statusLeft(i int) {
	n := &p.nodes[i]
	status, _ := n.content["status"].(map[string]any)
	if len(status) == 0 || object.BuiltIn(n.Object.Group()) || p.now.Content == nil || p.statusAt(n) == StatusInside {
		return
	}
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return
	}
	if there, err := ContentOf(raw); err == nil && CanWrite(there) {
		n.status = n.content["status"]
	}
}

// statusStep returns the step that restores a status.
func (n *node) statusStep() Step {
	s := Step{Verb: Status, Object: n.Object, live: n.live, status: n.status, left: n.left}
	if len(n.later) == 0 {
		s.managers = n.managers
	}
	return s
}

// Status returns the status that a Status step writes.
func (s *Step) Status() any { return s.status }

// CanWrite reports whether the current object has no status yet. An existing one is from a
// controller, which knows more than a backup.
func CanWrite(content map[string]any) bool {
	switch status := content["status"].(type) {
	case nil:
		return true
	case map[string]any:
		return len(status) == 0
	default:
		return false
	}
}

// Defines returns the kind that a CRD step defines; ok is false for other steps.
func (s *Step) Defines() (group, kind string, ok bool) {
	if !s.Object.Is(object.CRD) {
		return "", "", false
	}
	return textAt(s.content, "spec", "group"), textAt(s.content, "spec", "names", "kind"), true
}

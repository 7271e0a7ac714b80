package undo

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// StatusAt is where the status of a kind is written.
type StatusAt uint8

// The places of a status.
const (
	// StatusUnknown: nobody can tell. The server ignores a status where it has to be
	// written apart.
	StatusUnknown StatusAt = iota
	// StatusInside: the status is a part of the object like any other.
	StatusInside
	// StatusApart: the status is written through the subresource of that name.
	StatusApart
)

// stripStatus decides about the status. Where it is a part of the object it goes along.
// Of the kinds of Kubernetes it is the word of controllers, which write it anew. Of
// others nobody knows who writes it, or whether anybody does: it is given back in a step
// of its own, unless somebody else is faster.
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
	case !BuiltIn(n.Object.Group()):
		n.status = status
	case n.Object.Is(object.Job):
		n.step.Stripped = append(n.step.Stripped, "status")
		n.step.Notes = append(n.step.Notes, reason.StartsOver)
	default:
		n.step.Stripped = append(n.step.Stripped, "status")
		n.step.Notes = append(n.step.Notes, reason.StatusComputed)
	}
}

// statusAt is where the status of an object is written. Of a kind that the plan defines
// its definition tells.
func (p *planning) statusAt(n *node) StatusAt {
	if d := p.definition(n); d != nil {
		versions, _ := at(d.content, "spec", "versions").([]any)
		for _, entry := range versions {
			version, _ := entry.(map[string]any)
			if n.Object.APIVersion != n.Object.Group()+"/"+text(version, "name") {
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

// definition is the node that makes the kind of an object; nil when none does.
func (p *planning) definition(n *node) *node {
	for _, i := range p.definitions {
		d := &p.nodes[i]
		if d.state == made && defines(d, n) {
			return d
		}
	}
	return nil
}

// defines reports whether a node is the definition of the kind of another.
func defines(d, n *node) bool {
	return d.Object.Is(object.CRD) &&
		n.Object.Group() == textAt(d.content, "spec", "group") && n.Object.Kind == textAt(d.content, "spec", "names", "kind")
}

// statusLeft plans to write the status of what an earlier undo has made and has not come
// to give its status back.
func (p *planning) statusLeft(i int) {
	n := &p.nodes[i]
	status, _ := n.content["status"].(map[string]any)
	if len(status) == 0 || BuiltIn(n.Object.Group()) || p.now.Content == nil || p.statusAt(n) == StatusInside {
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

// statusStep is the step that gives a status back.
func (n *node) statusStep() Step {
	s := Step{Verb: Status, Object: n.Object, live: n.live, status: n.status, left: n.left}
	if len(n.later) == 0 {
		s.managers = n.managers
	}
	return s
}

// Status is what a Status step writes: the value of the field status.
func (s *Step) Status() any { return s.status }

// CanWrite reports whether the status of an object as the server has it may be written:
// as long as nobody else has. Controllers know better than a backup.
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

// Defines is the kind that a step defines.
func (s *Step) Defines() (group, kind string, ok bool) {
	if !s.Object.Is(object.CRD) {
		return "", "", false
	}
	return textAt(s.content, "spec", "group"), textAt(s.content, "spec", "names", "kind"), true
}

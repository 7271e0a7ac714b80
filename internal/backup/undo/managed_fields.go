package undo

import (
	"encoding/json"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Manager is the manager name that an API server records for writes of this program: the part of
// its user agent before the slash.
//
// Upstream: apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent.
const Manager = "kubectl-gc"

// ownerKey matches a reference in managed fields: k:{"uid":"…"}, quoted once more.
var ownerKey = regexp.MustCompile(`(k:\{\\"uid\\":\\")([^"\\]+)(\\"\})`)

// Managers returns a merge patch that restores the managedFields of an object that an undo has
// written, with its UID and resourceVersion. Without it, this program would own all fields, and the
// next server-side apply would conflict. It is nil if the step is not the object's last one or no
// managers were saved.
//
// there is the current object; managers that have written to it since keep their current entries. A
// nil there means that only this program has written to it.
func (s *Step) Managers(m *Mapping, live *object.Object, there []byte) (patch []byte, err error) {
	if len(s.managers) == 0 {
		return nil, nil
	}
	var since []any
	if there != nil {
		content, err := ContentOf(there)
		if err != nil {
			return nil, err
		}
		since, _ = at(content, "metadata", "managedFields").([]any)
	}
	var list []any
	taken := map[[4]string]bool{}
	for _, entry := range since {
		if fields, ok := entry.(map[string]any); ok && textAt(fields, "manager") != Manager {
			list = append(list, entry)
			taken[managerOf(fields)] = true
		}
	}
	for _, entry := range s.managers {
		if fields, ok := entry.(map[string]any); ok && !taken[managerOf(fields)] {
			list = append(list, entry)
		}
	}
	patch, err = json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.UID, "resourceVersion": live.ResourceVersion, "managedFields": list,
	}})
	return ownerKey.ReplaceAllFunc(patch, func(key []byte) []byte {
		part := ownerKey.FindSubmatch(key)
		if now := m.Now(types.UID(part[2])); now != "" {
			return append(append(append([]byte{}, part[1]...), now...), part[3]...)
		}
		return key
	}), err
}

// managersLeft reports whether an earlier undo created the object and ended before it restored
// managedFields. Some fields then belong to this program. After a complete undo, none do.
func (p *planning) managersLeft(n *node) bool {
	if len(n.managers) == 0 || slices.ContainsFunc(n.managers, isOurs) {
		return false // this program owned fields when the object was saved
	}
	content, _ := p.current(n)
	list, _ := at(content, "metadata", "managedFields").([]any)
	return slices.ContainsFunc(list, isOurs)
}

// isOurs reports whether an entry of managedFields belongs to this program.
func isOurs(entry any) bool {
	fields, ok := entry.(map[string]any)
	return ok && textAt(fields, "manager") == Manager
}

// manage plans to restore the managedFields that an earlier undo left, in the last step of the
// object or in a step of its own.
func (p *planning) manage(i int) {
	n := &p.nodes[i]
	switch {
	case !p.managersLeft(n):
		n.managers = nil
	case n.status != nil:
		n.left = true
	default:
		n.left = true
		if n.step.Verb == "" {
			n.step.Verb, n.step.Object, n.step.live = Manage, n.Object, n.live
		}
		n.step.managers, n.step.left = n.managers, true
	}
}

// ManagersLeft returns the object if an earlier undo has not restored its managedFields, else nil.
func (s *Step) ManagersLeft() *object.Object {
	if !s.left {
		return nil
	}
	return s.live
}

// managerOf returns the identity of a manager.
//
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfields.go BuildManagerIdentifier.
func managerOf(fields map[string]any) [4]string {
	return [4]string{textAt(fields, "manager"), textAt(fields, "operation"), textAt(fields, "apiVersion"), textAt(fields, "subresource")}
}

package undo

import (
	"encoding/json"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Manager is the name under which an API server notes what this program writes: what stands before
// the slash of its user agent.
//
// Upstream: apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent.
const Manager = "kubectl-gc"

// ownerKey is how managed fields name a reference: k:{"uid":"…"}, once more in quotes.
var ownerKey = regexp.MustCompile(`(k:\{\\"uid\\":\\")([^"\\]+)(\\"\})`)

// Managers is a merge patch, under the UID and resourceVersion of an object that an undo has
// written, by which its fields belong again to those that they belonged to when it was saved. Else
// all of them would be this program's, and the next server-side apply of their manager would
// conflict. Nil if the step is not the last one of its object, or nothing is known.
//
// There are the managers that have written to the object since. Each of these keeps what it has
// now. Nil stands for none but this program.
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
		if fields, ok := entry.(map[string]any); ok && text(fields, "manager") != Manager {
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
// managedFields. Some fields then belong to this program. After the last request of an undo, none do.
func (p *planning) managersLeft(n *node) bool {
	if len(n.managers) == 0 || p.now.Content == nil || slices.ContainsFunc(n.managers, isOurs) {
		return false // it owned fields when the object was saved
	}
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return false
	}
	content, err := ContentOf(raw)
	if err != nil || textAt(content, "metadata", "uid") != string(n.live.UID) {
		return false
	}
	list, _ := at(content, "metadata", "managedFields").([]any)
	return slices.ContainsFunc(list, isOurs)
}

// isOurs reports whether an entry of managedFields is of this program.
func isOurs(entry any) bool {
	fields, ok := entry.(map[string]any)
	return ok && text(fields, "manager") == Manager
}

// manage plans to restore the managedFields that an earlier undo has left: in the last step of the
// object, or in a step of its own.
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

// ManagersLeft returns the object whose managedFields an earlier undo has not restored, or nil.
func (s *Step) ManagersLeft() *object.Object {
	if !s.left {
		return nil
	}
	return s.live
}

// managerOf is what tells managers apart.
//
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfields.go BuildManagerIdentifier.
func managerOf(fields map[string]any) [4]string {
	return [4]string{text(fields, "manager"), text(fields, "operation"), text(fields, "apiVersion"), text(fields, "subresource")}
}

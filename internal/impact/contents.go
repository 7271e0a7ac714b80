package impact

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// contents are the objects that are deleted with a container. of has them by namespace, instances by
// definition.
type contents struct {
	of        map[string][]*object.Object
	instances map[*object.Object][]*object.Object
}

// contents returns the contents of the snapshot, computed on first use: few deletes need them.
func (m *Map) contents() *contents {
	if m.inside != nil {
		return m.inside
	}
	m.inside = &contents{of: map[string][]*object.Object{}, instances: map[*object.Object][]*object.Object{}}
	for same := range m.snap.ByKind() {
		if d := m.definitionOf(same[0].APIVersion, same[0].Kind); d != nil {
			m.inside.instances[d] = append(m.inside.instances[d], same...)
		}
		for _, o := range same {
			if o.Namespace != "" {
				m.inside.of[o.Namespace] = append(m.inside.of[o.Namespace], o)
			}
		}
	}
	return m.inside
}

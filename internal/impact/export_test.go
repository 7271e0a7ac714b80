package impact

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Below is what goes with an object, for tests.
func (m *Map) Below(o *object.Object) []*object.Object { return m.dependents(o) }

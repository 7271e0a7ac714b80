package finalizer

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Look is input to read again before a new judgement: kinds in the form resource.group, in one
// namespace or, if that is empty, everywhere. Without kinds, it is everything in the namespace.
type Look struct {
	Kinds     []string
	Namespace string
}

// Looks returns what the judgement of an object's finalizers depends on, in addition to the object
// itself. A write after the plan must read it again: a pod may use the claim by then.
func Looks(o *object.Object, names []string) []Look {
	var looks []Look
	for _, name := range names {
		switch _, inSpec := Has(o, name); {
		case inSpec:
			looks = append(looks, Look{Namespace: o.Name})
		case name == definitionCleanup && o.Definition() != nil:
			looks = append(looks, Look{Kinds: []string{o.Definition().Plural + "." + o.Definition().Group}})
		case name == claimProtection:
			looks = append(looks, Look{Kinds: []string{"pods"}, Namespace: o.Namespace})
		case name == volumeProtection:
			looks = append(looks, Look{Kinds: []string{"persistentvolumeclaims"}})
		case name == jobTracking:
			looks = append(looks, Look{Kinds: []string{"jobs.batch"}, Namespace: o.Namespace})
		}
	}
	return looks
}

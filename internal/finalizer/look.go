package finalizer

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Look is what has to be seen afresh to judge once more: kinds in the form
// resource.group, in one namespace or, with an empty one, everywhere. Without
// kinds it is everything in the namespace.
type Look struct {
	Kinds     []string
	Namespace string
}

// Looks lists what the judgement of the finalizers of an object rests on, beside
// the object itself. A write that comes later than the plan has to look again: a
// pod may have come to use the claim since.
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

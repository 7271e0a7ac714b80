package finalizer

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Class is the purpose of a finalizer.
type Class string

// The classes.
const (
	// Collector: one of the two that tell the garbage collector the propagation policy. Removing
	// it changes the policy.
	Collector Class = "Collector"
	// Protection: it blocks the deletion while other objects use the object.
	Protection Class = "Protection"
	// Cleanup: it blocks the deletion of a namespace or CRD until all its content is gone.
	Cleanup Class = "Cleanup"
	// Cloud: the object is the last reference to something outside of the cluster that costs money
	// or holds data.
	Cloud Class = "Cloud"
	// Operator: a known controller, or that of a kind in the cluster, cleans up after the object.
	Operator Class = "Operator"
	// Unknown: its purpose is unknown. It may be a lock set by a user.
	Unknown Class = "Unknown"
)

// Known is an entry of the table.
type Known struct {
	// Name is the finalizer. A `*` matches any text.
	Name  string
	Class Class
	// On describes the objects that have it.
	On string
	// RemovedBy and When are the controller that removes it, and the condition.
	RemovedBy, When string
	// Without is what is lost or left behind if the controller does not do its work.
	Without string
}

// ClassIn returns the class of a finalizer in a cluster that serves the resources. An unknown
// finalizer with the domain of a custom resource is an Operator.
func ClassIn(name string, served *object.Resources) Class {
	if k, ok := Of(name); ok {
		return k.Class
	}
	if served == nil {
		return Unknown
	}
	for _, r := range served.All() {
		if r.Custom && (IsOfGroup(name, r.Group) || IsAboveGroup(name, r.Group)) {
			return Operator
		}
	}
	return Unknown
}

// IsOfGroup reports whether the domain of a finalizer is an API group or below it: that of
// `finalizer.acme.io/cleanup` is below `acme.io`. The domain is the part before the slash, or all
// of it. A group of one word never matches.
func IsOfGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(group, ".") && (domain == group || strings.HasSuffix(domain, "."+group))
}

// IsAboveGroup reports whether the domain of a finalizer is above an API group: that of
// `strimzi.io/topic-operator` is above `kafka.strimzi.io`. A domain of one word, such as `io`,
// never matches.
func IsAboveGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(domain, ".") && strings.HasSuffix(group, "."+domain)
}

package finalizer

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Class says what kind of promise a finalizer is.
type Class string

// The classes.
const (
	// Collector: one of the two by which the garbage collector knows what it was
	// asked for. Taken off, it is asked for something else.
	Collector Class = "Collector"
	// Protection: it holds an object because others use it.
	Protection Class = "Protection"
	// Cleanup: it holds a namespace or a definition until all that it contains is
	// gone.
	Cleanup Class = "Cleanup"
	// Cloud: it is the last pointer to something outside of the cluster that costs
	// money or holds data.
	Cloud Class = "Cloud"
	// Operator: a controller that is known, or whose kinds the cluster has, wants
	// to tidy up after the object.
	Operator Class = "Operator"
	// Unknown: whoever put it there. It may be the lock of a person.
	Unknown Class = "Unknown"
)

// Known is what is known of a finalizer.
type Known struct {
	// Name is the finalizer. A `*` in it stands for any text.
	Name  string
	Class Class
	// On says which objects have it.
	On string
	// RemovedBy and When say who takes it off, and on what condition.
	RemovedBy, When string
	// Without says what is lost or left behind when somebody else takes it off.
	Without string
}

// ClassIn is the class of a finalizer in a cluster that serves the resources: one
// that is not known, and bears the domain of a custom resource, is an operator's.
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

// IsOfGroup reports whether the domain of a finalizer is an API group or below it, as that of
// `finalizer.acme.io/cleanup` is below `acme.io`. The domain is the part before the slash, or
// all of it. A group of one word says nothing.
func IsOfGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(group, ".") && (domain == group || strings.HasSuffix(domain, "."+group))
}

// IsAboveGroup reports whether the domain of a finalizer is above an API group, as that of
// `strimzi.io/topic-operator` is above `kafka.strimzi.io`. A domain of one word, as `io`, says
// nothing.
func IsAboveGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(domain, ".") && strings.HasSuffix(group, "."+domain)
}

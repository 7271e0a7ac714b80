package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Coverage says what the snapshot behind the world contains.
type Coverage interface {
	// Covers reports whether an object of the resource in the namespace would be
	// in the world if it existed. For a namespaced resource an empty namespace
	// asks for all namespaces.
	Covers(r object.Resource, namespace string) bool
	// Why is the reason of a gap, for people.
	Why(r object.Resource, namespace string) string
}

// Moments is a Coverage whose resources were not all read at the same time.
type Moments interface {
	// Unseen is why an object of a kind that is covered may exist though it was not seen: it
	// was there at a time, in seconds since 1970. It is empty if it does not.
	Unseen(k object.Kind, ref object.Ref, at int64) string
	// UnseenNode is the same of a node, by the pods that are on it.
	UnseenNode(name string) string
}

// Discovery is a Coverage that knows of what a server names and what it serves, which
// are not always the same.
type Discovery interface {
	// Undiscovered lists the API versions whose resources the server has not named, in
	// their order.
	Undiscovered() []object.Undiscovered
	// Unserved reports whether the server names the resource and answers 404 to a list
	// of it.
	Unserved(r object.Resource, namespace string) bool
}

// complete is the coverage of a world in which nothing is missing.
type complete struct{}

func (complete) Covers(object.Resource, string) bool { return true }
func (complete) Why(object.Resource, string) string  { return "" }

func orComplete(c Coverage) Coverage {
	if c == nil {
		return complete{}
	}
	return c
}

// momentsOf is what a coverage says of time; nothing, if it is of one moment.
func momentsOf(c Coverage) Moments {
	if m, ok := c.(Moments); ok {
		return m
	}
	return oneMoment{}
}

type oneMoment struct{}

func (oneMoment) Unseen(object.Kind, object.Ref, int64) string { return "" }
func (oneMoment) UnseenNode(string) string                     { return "" }

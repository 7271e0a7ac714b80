package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Coverage says which objects the snapshot behind the world contains.
type Coverage interface {
	// Covers reports whether an existing object of the resource in the namespace would be in the
	// snapshot. For a namespaced resource, an empty namespace means all namespaces.
	Covers(r object.Resource, namespace string) bool
	// Why returns the reason of a gap, for people.
	Why(r object.Resource, namespace string) string
}

// Moments is a Coverage of resources that were read at different times.
type Moments interface {
	// Unseen returns why an object of a covered kind may exist although the snapshot lacks it: it
	// existed at a time, in seconds since 1970. It returns "" if the object doesn't exist.
	Unseen(k object.Kind, ref object.Ref, at int64) string
	// UnseenNode is Unseen for a node, judged by the pods that are on it.
	UnseenNode(name string) string
}

// Discovery is a Coverage that knows which resources a server names and which it serves. These can
// differ.
type Discovery interface {
	// Undiscovered lists the API versions with resources that the server has not named, sorted.
	Undiscovered() []object.Undiscovered
	// Unserved reports whether the server names the resource but answers 404 to a list of it.
	Unserved(r object.Resource, namespace string) bool
}

// complete is the coverage of a complete snapshot.
type complete struct{}

func (complete) Covers(object.Resource, string) bool { return true }
func (complete) Why(object.Resource, string) string  { return "" }

func orComplete(c Coverage) Coverage {
	if c == nil {
		return complete{}
	}
	return c
}

// momentsOf returns the Moments of a coverage; without one, all was read at one moment.
func momentsOf(c Coverage) Moments {
	if m, ok := c.(Moments); ok {
		return m
	}
	return oneMoment{}
}

type oneMoment struct{}

func (oneMoment) Unseen(object.Kind, object.Ref, int64) string { return "" }
func (oneMoment) UnseenNode(string) string                     { return "" }

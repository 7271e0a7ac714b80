// Package past tells what was deleted in a cluster, and because of which request.
//
// A Source has the Record of a time span: whole lists, and every write since in order. Sources are
// an API server, which remembers some minutes (package kube), an EtcdFile, which holds every
// revision since the last compaction, and a File of `snapshot --history`. An AuditLog adds the
// senders of requests.
//
// Trace replays a record with the garbage collector and the other controllers, and returns the
// Account: each loss with its cause. LostDocument reports the part of an account that a user asks
// for. Nothing here writes to a cluster.
package past

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Moment is a revision of a cluster. All kinds share one counter, so the order of all writes is
// known.
type Moment struct {
	Revision uint64 `json:"revision,omitzero"`
	// Time is in seconds since 1970 by the clocks of the cluster; 0 if unknown.
	Time int64 `json:"time,omitzero"`
}

// Change is one write to one object.
type Change struct {
	// Revision is the revision of the write, or the latest possible one if After is set.
	Revision uint64
	// After is the last revision that is certainly before the write; 0 if Revision is exact.
	After uint64
	Type  object.EventType
	// Object is the object after the write. For a deletion it is the last state, with the revision
	// of the deletion as its resourceVersion.
	Object *object.Object
	// Old is the object before the write. It is nil for a creation, and if unknown.
	Old *object.Object
	// Unseen is true if the write was inferred: it was made at Revision or earlier.
	Unseen bool
}

// Before returns the last revision that is certainly before the write.
func (c *Change) Before() uint64 {
	if c.After != 0 {
		return c.After
	}
	return c.Revision - 1
}

// Record is the known history of a cluster between two moments.
type Record struct {
	// From is the beginning: nothing is known about earlier writes. To is the end.
	From, To Moment
	// Changes are the writes after From up to To, ordered by revision.
	Changes []Change
	// Unchanged are objects that existed unchanged from From to To, as far as they were read: the
	// owners, namespaces and CRDs of changed objects.
	Unchanged []*object.Object
	// Absent are coordinates without an object from From to To. The UIDs are empty.
	Absent []object.Ref
	// ForeignOwners are owners of deleted objects in another namespace than their dependent.
	ForeignOwners []*object.Object
	// Resources are the kinds that the server serves.
	Resources *object.Resources
	// Minor is the minor version of the server: 37 for v1.37.2; 0 if unknown.
	Minor int
	// Clock maps revisions to times.
	Clock Clock
	// Timeless is true if no revision has a known time. Then a window with a time gets the whole
	// remembered past.
	Timeless bool
	// Limits are the kinds with an incomplete history.
	Limits []Limit
	// Log is the record of deletes in audit logs; nil without one.
	Log *AuditLog
}

// Limit is a kind with an incomplete history.
type Limit struct {
	Resource object.Resource `json:"resource"`
	// From is where its history begins; the zero value if nothing is known.
	From Moment `json:"from,omitzero"`
	// Listed is true if lists from before From are known, and the changes that they reveal. Objects
	// that were created and deleted between two lists are missing.
	Listed bool `json:"listed,omitzero"`
	// Why is the error of the server.
	Why string `json:"why,omitzero"`
}

// Source reads the past of a cluster: from its API server, which remembers some minutes, or a file.
type Source interface {
	// Past returns every write since a moment, in order, of each kind that the record has. Missing
	// parts are in Limits. It fails if nothing is known.
	Past(ctx context.Context, w Window) (*Record, error)
	// Bodies passes whole objects of the past as JSON to take, which owns the bytes. It may pass an
	// object twice. A nil error means that all were passed. Objects that existed and cannot be read
	// are in an *UnreadError, after all others.
	Bodies(ctx context.Context, c Collection, take func(raw []byte) error) error
}

// Window selects a part of the past. The zero value selects all of it.
type Window struct {
	// Since is how many seconds to look back; 0 means as far as is remembered.
	Since int64
	// SinceRevision is the revision to begin after, instead of a time; 0 for none.
	SinceRevision uint64
	// Namespaces limit namespaced kinds; nil means all. Cluster-scoped kinds are always included.
	Namespaces []string
	// Progress is called with the number of kinds that are read. It may be nil.
	Progress func(done, kinds int)
}

// Collection selects the objects of one kind and namespace at a revision.
type Collection struct {
	APIVersion, Kind, Namespace string
	// Name selects a single object; empty means all.
	Name     string
	Revision uint64
}

// UnreadError lists objects that existed but cannot be read.
type UnreadError struct {
	Objects []object.Ref
	// Errors has one error for each object.
	Errors []error
}

// Error names the first of them.
func (e *UnreadError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Objects[0], e.Errors[0])
	if more := len(e.Objects) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more objects)", more)
	}
	return text
}

// RelevantRefs returns the coordinates that the attribution of an object's deletion depends on: its
// owners, namespace and CRD, the node of a pod, and its implicit owner.
// The UIDs are empty. A Past should have each among its changes, Unchanged or Absent. If not, the
// result is less certain.
func RelevantRefs(o *object.Object, served *object.Resources) []object.Ref {
	var refs []object.Ref
	for _, owner := range o.Owners {
		ref := owner.In(o.Namespace).WithoutUID()
		if r, err := served.For(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
		refs = append(refs, ref)
	}
	if o.Namespace != "" {
		refs = append(refs, object.Namespace.Ref("", o.Namespace))
	}
	if r, err := served.For(o.APIVersion, o.Kind); err == nil && r.Custom {
		refs = append(refs, definitionOf(r))
	}
	if pod := o.Pod(); pod != nil && pod.NodeName != "" {
		refs = append(refs, object.Node.Ref("", pod.NodeName))
	}
	if owner, ok := o.ImplicitOwner(); ok {
		refs = append(refs, owner.Ref().WithoutUID())
	}
	return refs
}

// definitionOf returns the reference to the CRD of a custom resource.
func definitionOf(r object.Resource) object.Ref { return object.CRD.Ref("", r.Name+"."+r.Group) }

// servedIn returns the resources that were served at some time: the present ones, and those of CRDs
// that have changed since.
func servedIn(p *Record, changes []Change) *object.Resources {
	rs := p.Resources.Clone()
	for i := range changes {
		for _, o := range []*object.Object{changes[i].Old, changes[i].Object} {
			if o != nil {
				AddDefined(rs, o)
			}
		}
	}
	return rs
}

// AddDefined adds the missing resources of a CRD.
func AddDefined(rs *object.Resources, o *object.Object) {
	facts := o.Definition()
	if facts == nil || !o.Is(object.CRD) {
		return
	}
	for _, v := range facts.Versions {
		r := object.Resource{
			Group: facts.Group, Version: v.Name, Name: facts.Plural, Kind: facts.Kind, Singular: facts.Singular,
			ShortNames: facts.ShortNames, Categories: facts.Categories,
			Namespaced: facts.Namespaced, Custom: true, Verbs: object.AllVerbs,
		}
		if have, err := rs.For(r.APIVersion(), r.Kind); v.Served && (err != nil || !have.Served()) {
			rs.Add(r)
		}
	}
}

// IsRelevant reports whether a change of an object matters for deletion, or changes a controller's
// spec. Most changes do not.
func IsRelevant(old, o *object.Object) bool {
	return old.Generation != o.Generation || old.DeletionTimestamp() != o.DeletionTimestamp() ||
		!slices.Equal(old.Owners, o.Owners) || !slices.Equal(old.Finalizers(), o.Finalizers())
}

// IsRoutine reports whether objects of a kind are created and deleted all the time and do not count
// as losses.
func IsRoutine(r object.Resource) bool {
	return r.Is(object.Lease) || r.IsEvent()
}

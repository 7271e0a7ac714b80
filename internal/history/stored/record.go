package stored

import (
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/etcd"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Record is the past in an etcd snapshot: a history.Record.
type Record struct {
	// mu protects stored.
	mu      sync.Mutex
	stored  *snapshot.Stored
	shelves []*shelf
	// resources are those that are served, and those that were served at some time since the oldest
	// revision.
	resources *object.Resources
	clock     history.Clock
}

// shelf has the keys of the objects of one kind.
type shelf struct {
	kind etcd.Place // without namespace and name
	keys []string
	gr   schema.GroupResource
	// resource is the version of the returned objects, if they are served.
	resource object.Resource
	served   bool
}

// Open opens an etcd snapshot.
func Open(path string, o snapshot.Options) (*Record, error) {
	s, err := snapshot.OpenStored(path, o)
	if err != nil {
		return nil, err
	}
	r := &Record{stored: s, resources: s.Resources.Clone()}
	for _, step := range []func() error{r.arrange, r.define, r.wind} {
		if err := step(); err != nil {
			r.Close()
			return nil, fmt.Errorf("%s: %w", s.Source.Files[0], err)
		}
	}
	return r, nil
}

// Close closes the file.
func (r *Record) Close() { r.stored.Close() }

// Present returns the latest state of the cluster.
func (r *Record) Present() *snapshot.Snapshot { return r.stored.Snapshot }

// arrange finds the keys of each kind. Keys are sorted.
func (r *Record) arrange() error {
	var last *shelf
	for i, key := range r.stored.Keys {
		place, ok := etcd.PlaceOf(key)
		if !ok {
			last = nil
			continue
		}
		if kind := (etcd.Place{Group: place.Group, Resource: place.Resource}); last == nil || last.kind != kind {
			last = &shelf{kind: kind, keys: r.stored.Keys[i:i]}
			r.shelves = append(r.shelves, last)
		}
		last.keys = last.keys[:len(last.keys)+1]
	}
	for _, s := range r.shelves {
		s.gr = snapshot.StoredIn(s.kind, "")
		if _, known := r.resources.Preferred(s.gr); known || s.kind.Group != "" {
			continue
		}
		err := r.each(s, s.keys[:1], func(o *object.Object) { s.gr = snapshot.StoredIn(s.kind, o.APIVersion) })
		if err != nil {
			return err
		}
	}
	return nil
}

// define adds the resources of all CRDs that ever existed, and sets the resource of each shelf.
func (r *Record) define() error {
	for _, s := range r.shelves {
		if s.gr != object.CRD.GroupResource() {
			continue
		}
		if err := r.each(s, s.keys, func(o *object.Object) { history.AddDefined(r.resources, o) }); err != nil {
			return err
		}
	}
	for _, s := range r.shelves {
		s.resource, s.served = r.resources.Preferred(s.gr)
	}
	return nil
}

// each visits all states of some keys that can be read.
func (r *Record) each(s *shelf, keys []string, visit func(o *object.Object)) error {
	for _, key := range keys {
		for _, c := range r.stored.Changes(key) {
			if c.Deletion {
				continue
			}
			o, err := r.object(s, key, c)
			if isSealed(err) {
				continue
			}
			if err != nil {
				return err
			}
			visit(o)
		}
	}
	return nil
}

// object returns the object that a change has written, in its served version.
func (r *Record) object(s *shelf, key string, c etcd.Change) (*object.Object, error) {
	place, _ := etcd.PlaceOf(key)
	o, err := r.stored.Object(key, place, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("key %q: %w", key, err)
	case o.UID == "":
		return nil, fmt.Errorf("key %q: it has no uid", key)
	case s.served:
		o.APIVersion, o.Kind = s.resource.APIVersion(), s.resource.Kind
	}
	return o, nil
}

func isSealed(err error) bool {
	_, sealed := errors.AsType[etcd.SealedError](err)
	return sealed
}

// wind makes the clock: the control plane renews its leases every few seconds.
func (r *Record) wind() error {
	var ticks []history.Moment
	for _, s := range r.shelves {
		if s.gr != object.Lease.GroupResource() {
			continue
		}
		for _, key := range s.keys {
			if place, _ := etcd.PlaceOf(key); place.Namespace != "kube-system" {
				continue
			}
			for _, c := range r.stored.Changes(key) {
				if c.Deletion {
					continue
				}
				e, err := r.stored.Read(key, c)
				if err != nil {
					return err
				}
				at, err := etcd.RenewTime(e.Value)
				if err != nil {
					return fmt.Errorf("key %q: %w", key, err)
				}
				if at > 0 {
					ticks = append(ticks, history.Moment{Revision: uint64(c.Revision), Time: at})
				}
			}
		}
	}
	r.clock = history.NewClock(ticks)
	return nil
}

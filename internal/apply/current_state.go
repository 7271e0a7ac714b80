package apply

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxSingleReads is the largest number of objects of one kind and namespace that are read one by
// one. More are read as a list.
const maxSingleReads = 5

// currentState is the result of reading one object.
type currentState struct {
	// o is the object; nil if no object with its UID exists.
	o *object.Object
	// again reports that another object has its name.
	again bool
	// err is why the state is unknown.
	err error
}

func (s currentState) gone() bool { return s.o == nil && s.err == nil }

// unserved reports whether the kind is not served in the requested version.
func (s currentState) unserved() bool {
	_, path := errors.AsType[*kube.UnservedPathError](s.err)
	_, kind := errors.AsType[*object.UnknownKindError](s.err)
	return path || kind
}

// deletedCRD returns the CustomResourceDefinition of an object's kind, if the plan deletes it.
type deletedCRD func(object.Ref) (object.Ref, bool)

// stateReader reads objects once.
type stateReader struct {
	client     *kube.Client
	deletedCRD deletedCRD
	// rediscover runs discovery once, when a kind seems to be no longer served.
	rediscover func() (*kube.Discovery, error)
}

// readStates reads the current state of objects. It is used for reports only; no write is based on
// it.
func readStates(ctx context.Context, client *kube.Client, refs []object.Ref, going deletedCRD) map[object.Ref]currentState {
	l := stateReader{client, going, sync.OnceValues(func() (*kube.Discovery, error) { return client.Discover(ctx) })}
	places := map[string][]object.Ref{}
	var order []string
	for _, ref := range refs {
		key := ref.APIVersion + "\x00" + ref.Kind + "\x00" + ref.Namespace
		if places[key] == nil {
			order = append(order, key)
		}
		places[key] = append(places[key], ref)
	}
	all := make(map[object.Ref]currentState, len(refs))
	var mu sync.Mutex
	_ = forEach(ctx, len(order), func(ctx context.Context, i int) error {
		found := l.readGroup(ctx, places[order[i]])
		mu.Lock()
		defer mu.Unlock()
		for j, ref := range places[order[i]] {
			all[ref] = found[j]
		}
		return nil
	})
	for _, ref := range refs {
		if _, ok := all[ref]; !ok {
			all[ref] = currentState{err: ctx.Err()}
		}
	}
	return all
}

// readGroup reads objects of one kind and namespace. A kind that is no longer served in its version
// is read in another one.
func (l stateReader) readGroup(ctx context.Context, refs []object.Ref) []currentState {
	found := l.readAsNamed(ctx, refs)
	if !slices.ContainsFunc(found, currentState.unserved) {
		return found
	}
	version, err := l.servedAs(refs[0])
	switch {
	case err != nil:
		return slices.Repeat([]currentState{{err: err}}, len(refs))
	case version == "":
		return slices.Repeat([]currentState{l.unserved(ctx, refs[0])}, len(refs))
	case version == refs[0].APIVersion:
		return found
	}
	other := slices.Clone(refs)
	for i := range other {
		other[i].APIVersion = version
	}
	return l.readAsNamed(ctx, other)
}

// unserved returns the state of objects of a kind that is not served in any version. They are gone
// if the plan deletes their CRD and the CRD is gone, since a deleted CRD outlasts its objects.
// Otherwise they may still be in storage, behind a CRD with `served: false` or a removed API
// service.
func (l stateReader) unserved(ctx context.Context, ref object.Ref) currentState {
	crd, ok := l.deletedCRD(ref)
	if !ok {
		return currentState{err: &object.UncoveredError{Ref: ref, Why: "its kind is not served any more, so that it may be in storage still"}}
	}
	o, err := l.client.Get(ctx, crd)
	if s := stateFrom(crd, o, err); s.o == nil {
		return s
	}
	return currentState{err: &object.UncoveredError{Ref: ref, Why: "its kind is not served any more, and " + crd.Name + " is still there"}}
}

// servedAs returns an apiVersion that serves the kind of an object. It is empty if discovery
// of the group succeeded and the kind is not in it.
func (l stateReader) servedAs(ref object.Ref) (string, error) {
	d, err := l.rediscover()
	if err != nil {
		return "", err
	}
	for _, r := range d.Resources.All() {
		if r.Group == object.GroupOf(ref.APIVersion) && r.Kind == ref.Kind {
			return r.APIVersion(), nil
		}
	}
	if why, ok := d.MissingGroup(object.GroupOf(ref.APIVersion)); ok {
		return "", &object.UncoveredError{Ref: ref, Why: "discovery failed: " + why}
	}
	return "", nil
}

// readAsNamed reads objects of one kind and namespace, in the version of their references.
func (l stateReader) readAsNamed(ctx context.Context, refs []object.Ref) []currentState {
	found := make([]currentState, len(refs))
	if len(refs) <= maxSingleReads {
		for i, ref := range refs {
			o, err := l.client.Get(ctx, ref)
			found[i] = stateFrom(ref, o, err)
		}
		return found
	}
	byName, err := l.list(ctx, refs[0])
	for i, ref := range refs {
		if err != nil {
			found[i] = currentState{err: err}
		} else if o := byName[ref.Name]; o != nil {
			found[i] = stateFrom(ref, o, nil)
		}
	}
	return found
}

func (l stateReader) list(ctx context.Context, of object.Ref) (map[string]*object.Object, error) {
	r, err := l.client.Resource(of.APIVersion, of.Kind)
	if err != nil {
		return nil, err
	}
	byName := map[string]*object.Object{}
	_, err = l.client.List(ctx, kube.Place{Resource: r, Namespace: of.Namespace}, kube.Selection{}, kube.Listing{
		Object:  func(o *object.Object) error { byName[o.Name] = o; return nil },
		Restart: func() { clear(byName) },
	})
	return byName, err
}

// stateFrom interprets the answer to a read. A 404 for an unserved path is an error, not an absence.
func stateFrom(ref object.Ref, o *object.Object, err error) currentState {
	switch {
	case apierrors.IsNotFound(err):
		return currentState{}
	case err != nil:
		return currentState{err: err}
	case o.UID != ref.UID:
		return currentState{again: true}
	}
	return currentState{o: o}
}

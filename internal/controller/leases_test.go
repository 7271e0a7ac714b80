package controller

import (
	"context"
	"errors"
	"strconv"
	"sync"

	api "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// leases is a server with one lease.
type leases struct {
	coordination.LeaseInterface
	mu sync.Mutex
	// have is the lease, nil for none; fails is the error of every request.
	have  *api.Lease
	fails error
	// taken is called when the lease is created. It may be nil.
	taken   func()
	version int
	writes  int
}

var errDown = errors.New("the server is down")

var leaseResource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// Leases returns the server itself.
func (l *leases) Leases(string) coordination.LeaseInterface { return l }

// Get reads the lease.
func (l *leases) Get(_ context.Context, name string, _ metav1.GetOptions) (*api.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fails != nil:
		return nil, l.fails
	case l.have == nil:
		return nil, apierrors.NewNotFound(leaseResource, name)
	}
	return l.have.DeepCopy(), nil
}

// Create creates the lease.
func (l *leases) Create(_ context.Context, lease *api.Lease, _ metav1.CreateOptions) (*api.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil {
		return nil, l.fails
	}
	if l.taken != nil {
		l.taken()
	}
	return l.store(lease), nil
}

// Update replaces the lease.
func (l *leases) Update(_ context.Context, lease *api.Lease, _ metav1.UpdateOptions) (*api.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fails != nil:
		return nil, l.fails
	case lease.ResourceVersion != l.have.ResourceVersion:
		return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("it has changed"))
	}
	return l.store(lease), nil
}

func (l *leases) store(lease *api.Lease) *api.Lease {
	l.version++
	l.writes++
	l.have = lease.DeepCopy()
	l.have.UID, l.have.ResourceVersion = "lease", strconv.Itoa(l.version)
	return l.have.DeepCopy()
}

// fail makes every request fail from now on; nil stops that.
func (l *leases) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = err
}

// touch writes to the lease like another client.
func (l *leases) touch(change func(*api.Lease)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.have.DeepCopy()
	change(lease)
	l.store(lease)
}

func (l *leases) now() *api.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.have.DeepCopy()
}

// raced is a server where another client renews the lease after every read, for a while.
type raced struct {
	*leases
	times int
}

// Leases returns the server itself.
func (r *raced) Leases(string) coordination.LeaseInterface { return r }

// Get reads the lease, which another client renews then.
func (r *raced) Get(ctx context.Context, name string, o metav1.GetOptions) (*api.Lease, error) {
	have, err := r.leases.Get(ctx, name, o)
	if r.times--; r.times >= 0 {
		r.touch(func(lease *api.Lease) { lease.Labels = map[string]string{"renewed": "yes"} })
	}
	return have, err
}

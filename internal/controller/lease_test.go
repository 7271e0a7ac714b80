package controller

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	api "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

var ours = Lease{
	Namespace: "gc", Name: "kubectl-gc", Identity: "us",
	Duration: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second,
}

// leading is a process in leader election.
type leading struct {
	fence *leaseFence
	// works is closed when it leads; ended has the result of lead.
	works chan struct{}
	ended chan error
	// idle is when the work was cancelled; it takes another 3 s to end.
	idle time.Time
	service
}

// told is the last result that it knows of a request for the lease.
func (p *leading) told() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.barred
}

func stand(ctx context.Context, l *leases, lease Lease) *leading {
	p := &leading{fence: newLeaseFence(lease.Renew), works: make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		p.ended <- lead(ctx, l, lease, p.fence, p.recordLeaseResult, func(ctx context.Context) error {
			close(p.works)
			<-ctx.Done()
			p.idle = time.Now()
			finished, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
			defer cancel()
			<-finished.Done()
			return nil
		})
	}()
	return p
}

// A leader whose renewals fail stops writing and working 10 s after the last successful one. Then
// it ends, and does not release a lease that may belong to another replica.
func TestLeaseLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		p := stand(t.Context(), l, ours)
		<-p.works
		wait(t, time.Minute)
		if !p.fence.holds() {
			t.Fatal("it is lost while the server answers")
		}
		l.fail(errDown)
		renewed, writes := l.now().Spec.RenewTime.Time, l.writes
		if err := <-p.ended; !errors.Is(err, errLost) {
			t.Errorf("it ends with %v", err)
		}
		if at := p.idle.Sub(renewed); at > ours.Renew {
			t.Errorf("it works until %v after its last renewal", at)
		}
		l.fail(nil)
		if p.fence.holds() || l.writes != writes {
			t.Errorf("it holds %v, and wrote the lease %d times", p.fence.holds(), l.writes-writes)
		}
	})
}

// A leader that lost its lease to another replica does not write longer than its last renewal
// allows, and ends.
func TestLeaseTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		p := stand(t.Context(), l, ours)
		<-p.works
		wait(t, 30*time.Second)
		other := "them"
		renewed := l.now().Spec.RenewTime.Time
		l.touch(func(lease *api.Lease) { lease.Spec.HolderIdentity = &other })
		if err := <-p.ended; !errors.Is(err, errLost) {
			t.Errorf("it ends with %v", err)
		}
		if at := p.idle.Sub(renewed); at > ours.Renew {
			t.Errorf("it works until %v after its last renewal", at)
		}
		if holder := *l.now().Spec.HolderIdentity; holder != other {
			t.Errorf("%q holds the lease", holder)
		}
	})
}

// A leader that is cancelled renews until its work is done and releases the lease. The next replica
// leads at once.
func TestLeaseGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		ctx, end := context.WithCancel(t.Context())
		first := stand(ctx, l, ours)
		<-first.works
		l.touch(func(lease *api.Lease) { lease.Annotations = map[string]string{trippedAnnotation: "why"} })
		theirs := ours
		theirs.Identity = "them"
		later, stop := context.WithCancel(t.Context())
		second := stand(later, l, theirs)
		wait(t, time.Minute)
		end()
		if err := <-first.ended; err != nil {
			t.Error(err)
		}
		began := time.Now()
		<-second.works
		if took := time.Since(began); took > 3*ours.Retry {
			t.Errorf("the next one leads after %v", took)
		}
		if why := l.now().Annotations[trippedAnnotation]; why != "why" {
			t.Errorf("the lease says %q of the limit", why)
		}
		stop()
		if err := <-second.ended; err != nil {
			t.Error(err)
		}
	})
}

// A failed request for the lease is reported. Waiting for the lease is not a failure.
func TestLeaseBarred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{fails: errDown}
		ctx, end := context.WithCancel(t.Context())
		p := stand(ctx, l, ours)
		wait(t, 10*time.Second)
		if err := p.told(); !errors.Is(err, errDown) {
			t.Errorf("it says %v", err)
		}
		l.fail(nil)
		<-p.works
		theirs := ours
		theirs.Identity = "them"
		second := stand(ctx, l, theirs)
		wait(t, 10*time.Second)
		if p.told() != nil || second.told() != nil {
			t.Errorf("they say %v and %v", p.told(), second.told())
		}
		end()
		for _, p := range []*leading{p, second} {
			if err := <-p.ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// A process that is cancelled at the moment when it acquires the lease releases it, whether or not
// it has begun to work.
func TestLeaseTakenAtTheEnd(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			l := &leases{taken: end}
			p := stand(ctx, l, ours)
			if err := <-p.ended; err != nil {
				t.Error(err)
			}
			if holder := *l.now().Spec.HolderIdentity; holder != "" {
				t.Errorf("%q still holds the lease", holder)
			}
		})
	}
}

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

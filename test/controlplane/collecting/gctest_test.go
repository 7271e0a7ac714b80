package collecting

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// throughGctest is the test that has those of Kubernetes pass with the collector for tests.
const throughGctest = "TestThroughGctest"

// TestThroughGctest has the tests with which Kubernetes tests its collector pass with the one
// for tests, by nothing but what that exports.
func TestThroughGctest(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"CascadingDeletion", TestCascadingDeletion},
		{"CreateWithNonExistentOwner", TestCreateWithNonExistentOwner},
		{"StressingCascadingDeletion", TestStressingCascadingDeletion},
		{"Orphaning", TestOrphaning},
		{"ExistingOwnerDoesNotBlockWaitingOwner", TestExistingOwnerDoesNotBlockWaitingOwner},
		{"NonBlockingOwnerRefDoesNotBlock", TestNonBlockingOwnerRefDoesNotBlock},
		{"DoubleDeletionWithFinalizer", TestDoubleDeletionWithFinalizer},
		{"BlockingOwnerRefDoesBlock", TestBlockingOwnerRefDoesBlock},
		{"CustomResourceCascadingDeletion", TestCustomResourceCascadingDeletion},
		{"MixedRelationships", TestMixedRelationships},
		{"CRDDeletionCascading", TestCRDDeletionCascading},
		{"CascadingDeleteOnCRDConversionFailure", TestCascadingDeleteOnCRDConversionFailure},
		{"ClusterScopedOwners", TestClusterScopedOwners},
		{"CrossNamespaceReferencesWithWatchCache", TestCrossNamespaceReferencesWithWatchCache},
		{"CrossNamespaceReferencesWithoutWatchCache", TestCrossNamespaceReferencesWithoutWatchCache},
	} {
		t.Run(c.name, c.test)
	}
}

// alone reports whether a test needs the API server for itself: what one test leaves is
// something to do for the collector of another.
func alone(t testing.TB) bool { return strings.HasPrefix(t.Name(), throughGctest) }

// together has a test run beside others, unless it needs the API server for itself.
func together(t *testing.T) {
	t.Helper()
	if !alone(t) {
		t.Parallel()
	}
}

// public is a collector for tests.
type public struct {
	s  *stage
	gc *gctest.GC
	// ending is the test that the collector works for.
	ending *ending
}

// ending is a test that ends when it is told to, and at the latest with the one around it.
type ending struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func()
}

// Cleanup has something done at the end.
func (e *ending) Cleanup(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cleanups = append(e.cleanups, f)
}

func (e *ending) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.cleanups) > 0 {
		last := len(e.cleanups) - 1
		f := e.cleanups[last]
		e.cleanups = e.cleanups[:last]
		f()
	}
}

// startPublic starts a collector for tests.
func (s *stage) startPublic() *public {
	s.t.Helper()
	config, err := s.Flags().ToRESTConfig()
	if err != nil {
		s.t.Fatal(err)
	}
	e := &ending{TB: s.t}
	s.t.Cleanup(e.end)
	s.public = &public{s: s, gc: gctest.Start(e, config), ending: e}
	return s.public
}

// settle waits until nothing is left to do.
func (p *public) settle(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(p.s.t.Context(), patience)
	defer cancel()
	return p.gc.WaitSettled(ctx)
}

// knows reports whether an object is there for the collector, when it is settled.
func (p *public) knows(uid string) bool {
	p.s.t.Helper()
	if err := p.gc.WaitSettled(p.s.t.Context()); err != nil {
		p.s.t.Fatal(err)
	}
	o := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	o.Name, o.Namespace, o.UID = "none", p.s.namespace, types.UID(uid)
	return !strings.Contains(p.gc.Explain(o), "is not there")
}

// state is how well a kind is known: one that is broken is named by the error of who waits.
func (p *public) state(group, resource string) (kube.State, bool) {
	p.s.t.Helper()
	if err := p.settle(2 * time.Second); err != nil {
		return kube.Broken, strings.Contains(err.Error(), resource+"."+group)
	}
	return kube.Synced, !p.s.gone("/apis/" + group)
}

func (p *public) end() { p.ending.end() }

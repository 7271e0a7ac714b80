package collecting

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// The tests in this file and in upstream_kinds_test.go bear the names of those with
// which Kubernetes tests its collector in test/integration/garbagecollector, and
// want the same. Where those wait for a while to see that something does not
// happen, these let the collector pass a fence.

// watched is a collector as these tests look at it.
type watched interface {
	// knows reports whether an object is in the collector's graph.
	knows(uid string) bool
	// state is how well a kind is known; ok is false for one that is not followed.
	state(group, resource string) (state kube.State, ok bool)
	end()
}

// upstream starts a collector with the rules of Kubernetes, or the one for tests.
func (s *stage) upstream() watched {
	s.t.Helper()
	if alone(s.t) {
		return s.startPublic()
	}
	return start(s.t, s.Cluster, kube.CollectorOptions{}, kube.Options{})
}

// passed has the collector go through what pods and config maps were enqueued. The collector
// for tests says itself when it has, unless there is a kind that it cannot read.
func (s *stage) passed() {
	s.t.Helper()
	if s.public != nil && !s.unreadable {
		if err := s.public.gc.WaitSettled(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	s.fence("pods")
	s.fence("replicationcontrollers")
	s.fence("configmaps")
	s.fence("secrets")
}

func TestCascadingDeletion(t *testing.T) {
	s := share(t)
	s.upstream()
	doomed, solid := s.controller("doomed"), s.controller("solid")
	s.pod("garbage", nil, doomed)
	shared := s.pod("shared", nil, doomed, solid)
	free := s.pod("free", nil)
	s.passed()
	if n := len(s.list(s.at("pods"))); n != 3 {
		t.Fatalf("%d of 3 pods are there before anything was deleted", n)
	}
	s.remove(s.at("replicationcontrollers", doomed.Name), "Background")
	s.until("the pod of the deleted owner is gone", func() bool { return s.gone(s.at("pods", "garbage")) })
	s.until("the shared pod refers to the owner that is left", func() bool {
		o, there := s.get(s.at("pods", "shared"))
		return !there || len(o.OwnerReferences) == 1
	})
	s.stays(s.at("pods", "shared"), shared, solid)
	s.stays(s.at("pods", "free"), free)
	s.stays(s.at("replicationcontrollers", "solid"), solid.UID)
}

func TestCreateWithNonExistentOwner(t *testing.T) {
	s := share(t)
	s.upstream()
	s.pod("early", nil, owner{APIVersion: "v1", Kind: "ReplicationController", Name: "nobody", UID: "nobody"})
	s.until("the pod is gone", func() bool { return s.gone(s.at("pods", "early")) })
}

func TestStressingCascadingDeletion(t *testing.T) {
	const each, podsEach = 10, 3
	s := share(t)
	g := s.upstream()
	var all []owner
	policies := map[string]string{}
	for _, policy := range []string{"Background", "Foreground", "Orphan"} {
		for i := range each {
			o := s.controller(fmt.Sprintf("%.2s-%d", map[string]string{"Background": "bg", "Foreground": "fg", "Orphan": "or"}[policy], i))
			policies[o.Name] = policy
			all = append(all, o)
			for j := range podsEach {
				s.pod(o.Name+"-"+strconv.Itoa(j), nil, o.blocking())
			}
		}
	}
	var deleting sync.WaitGroup
	for _, o := range all {
		deleting.Go(func() { s.remove(s.at("replicationcontrollers", o.Name), policies[o.Name]) })
	}
	deleting.Wait()
	s.until("all owners are gone", func() bool { return len(s.list(s.at("replicationcontrollers"))) == 0 })
	s.until("only what was orphaned is left", func() bool { return len(s.list(s.at("pods"))) <= each*podsEach })
	s.passed()
	pods := s.list(s.at("pods"))
	if len(pods) != each*podsEach {
		t.Errorf("%d pods were orphaned, want %d", len(pods), each*podsEach)
	}
	for _, p := range pods {
		if p.Name[:2] != "or" || len(p.OwnerReferences) > 0 || p.DeletionTimestamp != "" {
			t.Errorf("pod %s: owners %v, being deleted since %q", p.Name, p.OwnerReferences, p.DeletionTimestamp)
		}
	}
	for _, o := range all {
		if g.knows(o.UID) {
			t.Errorf("%s is gone and still in the graph", o.Name)
		}
	}
}

func TestOrphaning(t *testing.T) {
	const pods = 15
	s := share(t)
	s.upstream()
	o := s.controller("deleted")
	uids := map[string]string{}
	for i := range pods {
		name := "pod-" + strconv.Itoa(i)
		uids[name] = s.pod(name, nil, o)
	}
	s.passed() // who is not known to depend is not orphaned
	s.remove(s.at("replicationcontrollers", o.Name), "Orphan")
	s.until("the owner is gone", func() bool { return s.gone(s.at("replicationcontrollers", o.Name)) })
	s.passed()
	for name, uid := range uids {
		s.stays(s.at("pods", name), uid)
	}
}

func TestExistingOwnerDoesNotBlockWaitingOwner(t *testing.T) {
	s := share(t)
	s.upstream()
	waiting, solid := s.controller("waiting"), s.controller("solid")
	pod := s.pod("pod", nil, waiting.blocking(), solid)
	s.passed()
	s.remove(s.at("replicationcontrollers", "waiting"), "Foreground")
	s.until("the waiting owner is gone", func() bool { return s.gone(s.at("replicationcontrollers", "waiting")) })
	s.passed()
	s.stays(s.at("pods", "pod"), pod, solid)
	s.stays(s.at("replicationcontrollers", "solid"), solid.UID)
}

func TestNonBlockingOwnerRefDoesNotBlock(t *testing.T) {
	s := share(t)
	s.upstream()
	o := s.controller("owner")
	no := false
	refuses := o
	refuses.BlockOwnerDeletion = &no
	s.pod("says-no", []string{held}, refuses)
	s.pod("says-nothing", []string{held}, o)
	s.passed()
	s.remove(s.at("replicationcontrollers", "owner"), "Foreground")
	s.until("the owner is gone", func() bool { return s.gone(s.at("replicationcontrollers", "owner")) })
	if n := len(s.list(s.at("pods"))); n != 2 {
		t.Errorf("%d of 2 pods are there, which have a finalizer", n)
	}
	s.release("pods", "says-no", "says-nothing")
}

func TestDoubleDeletionWithFinalizer(t *testing.T) {
	s := share(t)
	s.upstream()
	s.pod("pod", []string{held}, nil...)
	s.remove(s.at("pods", "pod"), "Foreground")
	only := func() bool {
		o, there := s.get(s.at("pods", "pod"))
		return there && slices.Equal(o.Finalizers, []string{held}) && o.DeletionTimestamp != ""
	}
	s.until("the garbage collector's finalizer is gone and the other is not", only)
	s.remove(s.at("pods", "pod"), "Foreground")
	s.until("the same after a second delete", only)
	s.release("pods", "pod")
}

func TestBlockingOwnerRefDoesBlock(t *testing.T) {
	s := share(t)
	o := s.controller("owner")
	s.pod("pod", []string{held}, o.blocking())
	s.upstream() // after the pod: it is known from the list
	s.remove(s.at("replicationcontrollers", "owner"), "Foreground")
	s.until("the pod is being deleted", func() bool {
		p, there := s.get(s.at("pods", "pod"))
		return !there || p.DeletionTimestamp != ""
	})
	s.passed()
	if rc, there := s.get(s.at("replicationcontrollers", "owner")); !there || !slices.Equal(rc.Finalizers, []string{"foregroundDeletion"}) {
		t.Errorf("the owner does not wait: there %t, %v", there, rc.Finalizers)
	}
	s.release("pods", "pod")
	s.until("the owner is gone", func() bool { return s.gone(s.at("replicationcontrollers", "owner")) })
}

// release takes off what holds pods, and waits until they are gone.
func (s *stage) release(resource string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.until(name+" is being deleted", func() bool {
			o, there := s.get(s.at(resource, name))
			return there && o.DeletionTimestamp != ""
		})
		s.patch(s.at(resource, name), `{"metadata":{"finalizers":null}}`)
		s.until(name+" is gone", func() bool { return s.gone(s.at(resource, name)) })
	}
}
